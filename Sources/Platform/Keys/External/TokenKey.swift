import CCryptoki

/// Signatures by keys on PKCS #11 tokens.
///
/// The module is called directly. OpenSSL's engine for PKCS #11 (libp11) is not suitable. It keeps the token logged in,
/// so a wrong PIN after a right one also signs. It uses the first key of several that match. The token cannot be
/// removed and put back within one process.
enum TokenKey {
    static func sign(
        _ order: SigningOrder, _ name: TokenKeyName, modulePath: String?
    ) throws(ExternalKeyError) -> SignedOutside {
        try withModule(at: modulePath, for: order) { library throws(ExternalKeyError) in
            let slot = try TokenSlot.named(name, in: library)
            let session = try TokenSession(with: slot, in: library)
            if let pin = order.pin { try login(to: session, with: pin, on: slot, of: library) }
            return try sign(order, withKey: name, in: session, on: slot)
        }
    }

    static func withModule<Result: Sendable>(
        at modulePath: String?, for order: SigningOrder,
        _ body: (borrowing TokenLibrary) throws(ExternalKeyError) -> Result
    ) throws(ExternalKeyError) -> Result {
        guard let modulePath else {
            throw order.failure(
                .notSetUp("no PKCS #11 module is set; give its path in pkcs11-module (OpenSC: opensc-pkcs11.so)"))
        }
        return try TokenModule.withModule(at: modulePath, for: order, body)
    }

    private static func login(
        to session: borrowing TokenSession, with pin: Secret, on slot: TokenSlot, of library: borrowing TokenLibrary
    ) throws(ExternalKeyError) {
        let order = session.order
        guard slot.takesPIN else { throw order.failure(.takesNoPIN) }
        guard !slot.hasPINPad else {
            throw order.failure(.unsupported("the token takes its PIN at a keypad of its own, which the agent has not"))
        }
        guard !slot.isPINLocked else { throw order.failure(.pinLocked) }
        let code = session.login(pin, as: CKU_USER)
        let reason = TokenAnswer.reason("C_Login", code)
        if code != CKR_OK, case .wrongPIN = reason {
            // The token reports only after the try how many tries are left.
            let now = TokenSlot(slot.number, in: library) ?? slot
            throw order.failure(now.isPINLocked ? .pinLocked : .wrongPIN(now.triesLeft))
        }
        try order.expectOK("C_Login", code)
    }

    private static func sign(
        _ order: SigningOrder, withKey name: TokenKeyName, in session: borrowing TokenSession, on slot: TokenSlot
    ) throws(ExternalKeyError) -> SignedOutside {
        let key = try privateKey(named: name, for: order, in: session, on: slot)
        let isPrivate = try session.flag(CKA_PRIVATE, of: key) ?? false
        if order.pin != nil && !isPrivate { throw order.failure(.takesNoPIN) }
        let publicKey = try TokenPublicKey.read(session, of: key)
        try order.checkExpected(publicKey)
        let pin = try session.flag(CKA_ALWAYS_AUTHENTICATE, of: key) == true ? order.pin : nil
        let signature = try ExternalKeyError.wrapping(order.uri) { () throws(OpenSSLError) in
            try digest(of: order.message, for: publicKey.algorithm)
        }
        let raw = try session.signature(of: signature, by: key, pinEachTime: pin)
        let facts = ExternalKeyFacts(
            kind: .pkcs11, publicKey: publicKey, isExportable: try session.isExportable(key))
        return SignedOutside(facts: facts, signature: try der(raw, of: publicKey, for: order))
    }

    /// Returns the digest of a message, which CKM_ECDSA signs.
    private static func digest(of message: [UInt8], for algorithm: SignatureAlgorithm) throws(OpenSSLError) -> [UInt8] {
        try algorithm == .es384 ? SHA384Digest.of(message) : SHA256Digest.of(message)
    }

    private static func privateKey(
        named name: TokenKeyName, for order: SigningOrder, in session: borrowing TokenSession, on slot: TokenSlot
    ) throws(ExternalKeyError) -> CK_OBJECT_HANDLE {
        let keys = try session.objects(with: TokenTemplate.attributes(of: CKO_PRIVATE_KEY, named: name))
        guard let key = keys.first else {
            // A key that needs a PIN is not visible without it.
            throw order.failure(order.pin == nil && slot.takesPIN ? .needsPIN : .noSuchKey)
        }
        guard keys.count == 1 else { throw order.failure(.ambiguous("several keys of the token fit")) }
        return key
    }

    private static func der(
        _ raw: [UInt8], of publicKey: PublicKey, for order: SigningOrder
    ) throws(ExternalKeyError) -> [UInt8] {
        let signature = try ExternalKeyError.wrapping(order.uri) { () throws(OpenSSLError) -> [UInt8]? in
            try publicKey.algorithm.ecNumberCount.flatMap { count throws(OpenSSLError) in
                try ECDSASignature.reading(raw: raw, numberCount: count)?.der()
            }
        }
        guard let signature else {
            throw order.failure(.failed("the token's C_Sign gave \(raw.count) bytes, which is no signature"))
        }
        return signature
    }
}

extension TokenSession {
    /// Returns a Boolean attribute, or `nil` if the object does not have it.
    func flag(_ type: CK_ATTRIBUTE_TYPE, of object: CK_OBJECT_HANDLE) throws(ExternalKeyError) -> Bool? {
        try attribute(type, of: object).map { $0 != [0] }
    }

    /// Returns whether the token exports the key, in clear or wrapped, or `nil` if it does not say.
    func isExportable(_ key: CK_OBJECT_HANDLE) throws(ExternalKeyError) -> Bool? {
        guard let isExtractable = try flag(CKA_EXTRACTABLE, of: key), let isSensitive = try flag(CKA_SENSITIVE, of: key)
        else { return nil }
        return isExtractable || !isSensitive
    }
}
