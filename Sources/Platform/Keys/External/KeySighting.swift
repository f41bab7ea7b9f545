import CCryptoki
import FoundationEssentials

/// The part of a key's identity that is visible without the PIN, for any spelling of its URI.
package struct ExternalKeySighting: Sendable, Equatable {
    /// The place that has one count of wrong PINs.
    ///
    /// It is the file behind all links, the public half of the TPM's key, or the token's description of itself. A token
    /// has one PIN for all its keys.
    package let place: String
    /// The public key, or `nil` if it is not visible without the PIN.
    package let publicKey: PublicKey?
}

extension ExternalKeys {
    /// Identifies a key without trying a PIN.
    package func sighting(_ uri: KeyURI) throws(ExternalKeyError) -> ExternalKeySighting {
        // OpenSSL may ask for a PIN before it reads a key of the TPM. It gets this one and does not use it, because no
        // signature is made.
        let order = SigningOrder(uri: uri, pin: Secret([UInt8(ascii: "0")]), expected: nil, message: [])
        switch uri.place {
        case .file(let path): return try FileKey.sighting(order, path: path)
        case .tpm(let handle):
            let order = SigningOrder(uri: uri, pin: nil, expected: nil, message: [])
            return try TPMKey.sighting(order, with: .handle(handle))
        case .token(let name):
            return try TokenKey.sighting(order, name, modulePath: modulePath)
        }
    }
}

extension FileKey {
    static func sighting(_ order: SigningOrder, path: String) throws(ExternalKeyError) -> ExternalKeySighting {
        let bytes = try bytes(of: path, order)
        if isOfTPM(bytes) { return try TPMKey.sighting(order, with: .file(bytes)) }
        // Not realpath(3): OpenSSL's module has its own definition of it in a build with _FORTIFY_SOURCE.
        let resolved = URL(filePath: path).resolvingSymlinksInPath().path
        return ExternalKeySighting(place: "file:" + resolved, publicKey: nil)
    }
}

extension TPMKey {
    static func sighting(_ order: SigningOrder, with source: Source) throws(ExternalKeyError) -> ExternalKeySighting {
        let publicKey = try publicKey(order, with: source)
        return ExternalKeySighting(
            place: "tpm:" + publicKey.subjectPublicKeyInfo.hexadecimal, publicKey: publicKey)
    }
}

extension TokenKey {
    static func sighting(
        _ order: SigningOrder, _ name: TokenKeyName, modulePath: String?
    ) throws(ExternalKeyError) -> ExternalKeySighting {
        try withModule(at: modulePath, for: order) { library throws(ExternalKeyError) in
            let slot = try TokenSlot.named(name, in: library)
            let session = try TokenSession(with: slot, in: library)
            return ExternalKeySighting(
                place: "pkcs11:" + slot.description, publicKey: try TokenPublicKey.visible(session, name))
        }
    }
}

extension TokenPublicKey {
    /// Returns the public key of that name that is visible without a PIN, or `nil` unless it is the only one.
    fileprivate static func visible(
        _ session: borrowing TokenSession, _ name: TokenKeyName
    ) throws(ExternalKeyError) -> PublicKey? {
        let found = try session.objects(with: TokenTemplate.attributes(of: CKO_PUBLIC_KEY, named: name))
        guard found.count == 1, let object = found.first else { return nil }
        // A key of an unsupported algorithm is refused when the key is used.
        return try? read(session, object)
    }
}

extension [UInt8] {
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
