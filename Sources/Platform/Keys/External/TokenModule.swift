import CCryptoki
import Glibc
import Synchronization

/// A PKCS #11 module (OASIS PKCS #11 v2.40) that is loaded into this process.
@safe struct TokenModule: Sendable {
    /// The module's function table, which the module owns and does not change.
    nonisolated(unsafe) let functions: CK_FUNCTION_LIST_PTR

    /// The loaded modules, with one user at a time, because a module logs in for the whole process.
    ///
    /// A module is never unloaded, because it may have started threads.
    private static let loaded = Mutex<[String: TokenModule]>([:])

    /// Lends the module at a path, initialized for the time of the call.
    ///
    /// No token is logged in before the call, and none stays logged in after it.
    static func withModule<Result: Sendable>(
        at path: String, for order: SigningOrder,
        _ body: (borrowing TokenLibrary) throws(ExternalKeyError) -> Result
    ) throws(ExternalKeyError) -> Result {
        try loaded.withLock { modules throws(ExternalKeyError) in
            // A module may use the same libcrypto, and leave its errors in our error queue.
            defer { OpenSSLError.discardQueue() }
            if let module = modules[path] { return try body(TokenLibrary(module, for: order)) }
            let module = try TokenModule(loading: path, for: order)
            modules[path] = module
            return try body(TokenLibrary(module, for: order))
        }
    }

    private init(loading path: String, for order: SigningOrder) throws(ExternalKeyError) {
        try Self.checkFile(path, order)
        guard let library = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw order.failure(.notSetUp("the PKCS #11 module \(path) cannot be loaded; check pkcs11-module"))
        }
        guard let symbol = unsafe dlsym(library, "C_GetFunctionList") else {
            throw order.failure(.notSetUp("\(path) is no PKCS #11 module; check pkcs11-module"))
        }
        // The only function whose name and type the standard fixes. Its list contains the others.
        let getList = unsafe unsafeBitCast(symbol, to: CK_C_GetFunctionList.self)
        var list: CK_FUNCTION_LIST_PTR?
        guard unsafe getList(&list) == CKR_OK, let list = unsafe list, unsafe 2...3 ~= list.pointee.version.major
        else {
            throw order.failure(.notSetUp("\(path) has no functions of PKCS #11 version 2 or 3; check pkcs11-module"))
        }
        unsafe functions = unsafe list
    }

    /// Checks that only root and the agent's user may have written the module.
    ///
    /// The module's code runs with all rights of the agent.
    private static func checkFile(_ path: String, _ order: SigningOrder) throws(ExternalKeyError) {
        var status = stat()
        guard path.hasPrefix("/"), unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw order.failure(.notSetUp("pkcs11-module is \(path), which is no absolute path of a file"))
        }
        guard status.st_uid == 0 || status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw order.failure(
                .notSetUp("the PKCS #11 module \(path) can be written by others; chown it to root, chmod 0644"))
        }
    }
}

/// A module between C_Initialize and C_Finalize.
@safe struct TokenLibrary: ~Copyable {
    let functions: CK_FUNCTION_LIST_PTR
    let order: SigningOrder

    fileprivate init(_ module: TokenModule, for order: SigningOrder) throws(ExternalKeyError) {
        var arguments = unsafe CK_C_INITIALIZE_ARGS()
        unsafe arguments.flags = CK_FLAGS(CKF_OS_LOCKING_OK)
        try order.expectOK("C_Initialize", unsafe module.functions.pointee.C_Initialize?(&arguments))
        self.order = order
        unsafe functions = unsafe module.functions
    }

    deinit { _ = unsafe functions.pointee.C_Finalize?(nil) }
}

/// The return values of a PKCS #11 module (v2.40, "Function return values").
enum TokenAnswer {
    /// Returns the reason of a failure; `code` is `nil` if the module does not have the function.
    static func reason(_ function: String, _ code: CK_RV?) -> ExternalKeyError.Reason {
        switch code {
        case CKR_USER_NOT_LOGGED_IN: .needsPIN
        case CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE: .wrongPIN(.notTold)
        case CKR_PIN_LOCKED: .pinLocked
        case CKR_PIN_EXPIRED: .notSetUp("the token's PIN has expired; set a new one with the token's own tools")
        case CKR_USER_PIN_NOT_INITIALIZED: .notSetUp("the token has no PIN yet; set one with the token's own tools")
        case CKR_TOKEN_NOT_PRESENT, CKR_TOKEN_NOT_RECOGNIZED, CKR_DEVICE_REMOVED, CKR_SLOT_ID_INVALID,
            CKR_SESSION_HANDLE_INVALID, CKR_SESSION_CLOSED:
            .absent("the token was taken out; put it back")
        case let code?: .failed("the token's \(function) answered 0x\(String(code, radix: 16))")
        case nil: .notSetUp("the PKCS #11 module has no \(function)")
        }
    }
}

extension SigningOrder {
    /// Throws unless the module answered CKR_OK.
    func expectOK(_ function: String, _ code: CK_RV?) throws(ExternalKeyError) {
        guard code == CKR_OK else { throw failure(TokenAnswer.reason(function, code)) }
    }
}
