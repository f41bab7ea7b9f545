import CCryptoki

/// A read-only session with a token.
///
/// The end of the session logs the token out.
@safe struct TokenSession: ~Copyable {
    private let functions: CK_FUNCTION_LIST_PTR
    private let handle: CK_SESSION_HANDLE
    let order: SigningOrder

    init(with slot: TokenSlot, in library: borrowing TokenLibrary) throws(ExternalKeyError) {
        var handle: CK_SESSION_HANDLE = 0
        try library.order.expectOK(
            "C_OpenSession",
            unsafe library.functions.pointee.C_OpenSession?(
                slot.number, CK_FLAGS(CKF_SERIAL_SESSION), nil, nil, &handle))
        self.handle = handle
        order = library.order
        unsafe functions = unsafe library.functions
    }

    deinit { _ = unsafe functions.pointee.C_CloseSession?(handle) }

    /// Sends the PIN to the token, which verifies it.
    ///
    /// - Parameter user: `CKU_USER`, or `CKU_CONTEXT_SPECIFIC` for a key that needs the PIN for every signature.
    /// - Returns: the token's return value.
    func login(_ pin: Secret, as user: UInt) -> CK_RV? {
        unsafe pin.withBytes { bytes in
            let pin = unsafe UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            return unsafe functions.pointee.C_Login?(handle, user, pin, CK_ULONG(bytes.count))
        }
    }

    /// Returns the objects that have all these attributes, at most two, which is one too many.
    func objects(with attributes: [TokenTemplate.Attribute]) throws(ExternalKeyError) -> [CK_OBJECT_HANDLE] {
        let template = TokenTemplate(attributes)
        try order.expectOK(
            "C_FindObjectsInit", unsafe functions.pointee.C_FindObjectsInit?(handle, template.pointer, template.count))
        defer { _ = unsafe functions.pointee.C_FindObjectsFinal?(handle) }
        var (found, count) = ([CK_OBJECT_HANDLE](repeating: 0, count: 2), CK_ULONG(0))
        try order.expectOK("C_FindObjects", unsafe functions.pointee.C_FindObjects?(handle, &found, 2, &count))
        return Array(found.prefix(Int(clamping: count)))
    }

    /// Returns an attribute's bytes, or `nil` if the object does not have it or does not reveal it.
    func attribute(_ type: CK_ATTRIBUTE_TYPE, of object: CK_OBJECT_HANDLE) throws(ExternalKeyError) -> [UInt8]? {
        let template = TokenTemplate([(type, [UInt8](repeating: 0, count: TokenTemplate.maxBytes))])
        let code = unsafe functions.pointee.C_GetAttributeValue?(handle, object, template.pointer, template.count)
        if code == CKR_ATTRIBUTE_TYPE_INVALID || code == CKR_ATTRIBUTE_SENSITIVE { return nil }
        try order.expectOK("C_GetAttributeValue", code)
        return template.firstValue
    }

    /// Signs a digest with CKM_ECDSA, and returns r || s.
    ///
    /// - Parameter pin: the PIN, for a key that needs it for every signature.
    func signature(
        of digest: [UInt8], by key: CK_OBJECT_HANDLE, pinEachTime pin: Secret?
    ) throws(ExternalKeyError) -> [UInt8] {
        var mechanism = unsafe CK_MECHANISM(mechanism: CKM_ECDSA, pParameter: nil, ulParameterLen: 0)
        try order.expectOK("C_SignInit", unsafe functions.pointee.C_SignInit?(handle, &mechanism, key))
        if let pin { try order.expectOK("C_Login", login(pin, as: CKU_CONTEXT_SPECIFIC)) }
        var (digest, signature) = (digest, [UInt8](repeating: 0, count: 128))
        var count = CK_ULONG(signature.count)
        try order.expectOK(
            "C_Sign", unsafe functions.pointee.C_Sign?(handle, &digest, CK_ULONG(digest.count), &signature, &count))
        return Array(signature.prefix(Int(clamping: count)))
    }
}
