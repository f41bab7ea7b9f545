import COpenSSL
import DurableFiles

/// Signatures by a key file that this program did not make: in clear, encrypted, or of a TPM key.
enum FileKey {
    /// The most bytes of a file that are read; a key in PEM has at most 2,000, depending on the algorithm.
    static let maxBytes = 16 * 1_024
    private static let tpmLabel = Array(" TSS2 PRIVATE KEY-----".utf8)

    static func sign(_ order: SigningOrder, path: String) throws(ExternalKeyError) -> SignedOutside {
        let bytes = try bytes(of: path, order)
        return isOfTPM(bytes) ? try TPMKey.sign(order, with: .file(bytes)) : try sign(order, bytes: bytes)
    }

    static func bytes(of path: String, _ order: SigningOrder) throws(ExternalKeyError) -> Secret {
        do throws(FileError) {
            return try SecretFile.read(path, maxBytes: maxBytes)
        } catch {
            throw order.failure(.file(error))
        }
    }

    static func isOfTPM(_ bytes: Secret) -> Bool {
        unsafe bytes.withBytes { unsafe $0.firstRange(of: tpmLabel) != nil }
    }

    private static func sign(_ order: SigningOrder, bytes: Secret) throws(ExternalKeyError) -> SignedOutside {
        let answer = PassphraseAnswer(order.pin)
        let keys: [PKey]
        do throws(OpenSSLError) {
            keys = try KeyStore.keys(in: bytes, for: answer, home: nil)
        } catch  where answer.wasAsked {
            throw order.failure(order.pin == nil ? .needsPIN : .wrongPIN(.notTold))
        } catch {
            throw order.failure(.unreadable(error.description))
        }
        let key = try order.only(of: keys, answer)
        let publicKey = try order.publicKey(of: key)
        let signature = try ExternalKeyError.wrapping(order.uri) { () throws(OpenSSLError) in
            try DigestContext(publicKey.algorithm).signature(by: key, over: order.message)
        }
        // A reader of the file has the key: a passphrase does not prevent its export.
        let facts = ExternalKeyFacts(kind: .file, publicKey: publicKey, isExportable: true)
        return SignedOutside(facts: facts, signature: signature)
    }
}

extension SigningOrder {
    /// Returns the only key that was found, which must need a PIN exactly if one is given.
    func only(of keys: [PKey], _ answer: PassphraseAnswer) throws(ExternalKeyError) -> PKey {
        guard let key = keys.first else { throw failure(.unreadable("none is in it")) }
        guard keys.count == 1 else { throw failure(.ambiguous("the file holds \(keys.count) private keys")) }
        guard pin == nil || answer.wasAsked else { throw failure(.takesNoPIN) }
        return key
    }

    /// Returns the public half, if it is the expected one and of a supported algorithm.
    func publicKey(of key: PKey) throws(ExternalKeyError) -> PublicKey {
        let encoded = try ExternalKeyError.wrapping(uri) { () throws(OpenSSLError) in try subjectPublicKeyInfo(of: key)
        }
        let publicKey: PublicKey
        do throws(KeyError) {
            publicKey = try PublicKey(subjectPublicKeyInfo: encoded)
        } catch {
            throw failure(.unsupported(error.description))
        }
        try checkExpected(publicKey)
        return publicKey
    }
    /// Returns the DER SubjectPublicKeyInfo.
    private func subjectPublicKeyInfo(of key: PKey) throws(OpenSSLError) -> [UInt8] {
        try unsafe key.withPointer { key throws(OpenSSLError) in
            try unsafe DER.encoding("i2d_PUBKEY") { unsafe i2d_PUBKEY(key, $0) }
        }
    }
}
