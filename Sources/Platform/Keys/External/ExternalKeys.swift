import Glibc

/// Keys that this program did not make: in files, on PKCS #11 tokens, in the TPM.
///
/// Every call opens the key and closes it again, with the token's session. No PIN outlives the signature that it was
/// given for. The calls block until the token answers, so run them on a thread of their own.
package struct ExternalKeys: Sendable {
    let modulePath: String?

    /// - Parameter pkcs11Module: the absolute path of the PKCS #11 module that is loaded for `pkcs11:`. `nil` if there
    ///   is none.
    package init(pkcs11Module: String?) {
        modulePath = pkcs11Module
    }

    /// Sets the connection to the TPM, in the syntax of tpm2-tss.
    ///
    /// Without this call, TPM2OPENSSL_TCTI applies if it is set. The provider reads only the environment, which must
    /// not change while other threads read it.
    package static func reachTPM(by tcti: String) {
        _ = unsafe setenv("TPM2OPENSSL_TCTI", tcti, 1)
    }

    /// Signs random bytes with the key, and verifies the signature with the key's public half.
    ///
    /// If a PIN is given, a return means that the token, the TPM or the file's encryption has verified it, and that the
    /// key cannot be used without it.
    package func proven(_ uri: KeyURI, pin: Secret?) throws(ExternalKeyError) -> ExternalKeyFacts {
        let message = try ExternalKeyError.wrapping(uri) { () throws(OpenSSLError) in try SelfTest.message() }
        return try use(uri, pin: pin, expecting: nil, toSign: message).facts
    }

    /// Signs a message in WebAuthn's format (§6.5.5) if the key has this public key, and throws otherwise.
    package func signature(
        over message: [UInt8], with uri: KeyURI, expecting publicKey: PublicKey, pin: Secret?
    ) throws(ExternalKeyError) -> [UInt8] {
        try use(uri, pin: pin, expecting: publicKey, toSign: message).signature
    }

    private func use(
        _ uri: KeyURI, pin: Secret?, expecting expected: PublicKey?, toSign message: [UInt8]
    ) throws(ExternalKeyError) -> SignedOutside {
        let order = SigningOrder(uri: uri, pin: pin, expected: expected, message: message)
        let signed =
            switch uri.place {
            case .file(let path): try FileKey.sign(order, path: path)
            case .tpm(let handle): try TPMKey.sign(order, with: .handle(handle))
            case .token(let name): try TokenKey.sign(order, name, modulePath: modulePath)
            }
        try order.checkPair(signed)
        return signed
    }
}

/// A request for one signature.
struct SigningOrder {
    let uri: KeyURI
    let pin: Secret?
    /// The public key that the key must have, or `nil` for any key.
    let expected: PublicKey?
    let message: [UInt8]

    func failure(_ reason: ExternalKeyError.Reason) -> ExternalKeyError {
        ExternalKeyError(uri: uri, reason)
    }

    /// Throws if the key is not the expected one; called before the key signs.
    func checkExpected(_ publicKey: PublicKey) throws(ExternalKeyError) {
        if let expected, expected != publicKey { throw failure(.replaced) }
    }

    /// Throws if the signature is not valid under the public key.
    ///
    /// In that case the public key is not the key's other half, or the token is broken.
    fileprivate func checkPair(_ signed: SignedOutside) throws(ExternalKeyError) {
        let holds = try ExternalKeyError.wrapping(uri) { () throws(OpenSSLError) in
            try signed.facts.publicKey.isValid(signature: signed.signature, over: message)
        }
        guard holds else { throw failure(.failed("what it signs does not hold under its public key")) }
    }
}

/// A signature, and the facts about the key that made it.
struct SignedOutside {
    let facts: ExternalKeyFacts
    let signature: [UInt8]
}

extension ExternalKeyError {
    /// Runs one step of OpenSSL, and turns its error into an error of the key.
    static func wrapping<Result>(
        _ uri: KeyURI, _ step: () throws(OpenSSLError) -> Result
    ) throws(ExternalKeyError) -> Result {
        do throws(OpenSSLError) {
            return try step()
        } catch {
            throw ExternalKeyError(uri: uri, .failed(error.description))
        }
    }
}
