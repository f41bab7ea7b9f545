/// The agent's secret and the one before it, while what lies under the one is brought under the other.
///
/// Everything that is sealed is under one of the two, and both are tried.
package struct SecretChange: Sendable {
    private let previous: AgentSecret
    private let present: AgentSecret

    package init(from previous: AgentSecret, to present: AgentSecret) {
        self.previous = previous
        self.present = present
    }

    /// What was sealed as it is, under the present secret; nil if it is already.
    package func resealed(_ sealed: [UInt8], label: String) throws(SecretChangeError) -> [UInt8]? {
        guard let plain = try opened(sealed, label: label) else { return nil }
        return try seal(plain, label: label)
    }

    /// A key that was encrypted twice, under the present secret; nil if it is already.
    ///
    /// The inner layer of a key without a PIN is the secret's too, and is made again. One that is under a PIN stays as
    /// it is, and nobody has to enter it.
    package func resealedKey(_ sealed: [UInt8], label: String) throws(SecretChangeError) -> [UInt8]? {
        guard let encrypted = try opened(sealed, label: label) else { return nil }
        let bytes = unsafe encrypted.withBytes { unsafe Array($0) }
        let isUnderPIN = try SecretChangeError.wrapping(SecretChangeError.key) { () throws(KeyError) in
            try SigningKey.isUnderPIN(encryptedPKCS8: bytes)
        }
        return try seal(isUnderPIN ? encrypted : reencrypted(bytes, label: label), label: label)
    }

    /// What is under the previous secret; nil if it is under the present one already.
    private func opened(_ sealed: [UInt8], label: String) throws(SecretChangeError) -> Secret? {
        try SecretChangeError.wrapping(SecretChangeError.seal) { () throws(SealError) in
            do throws(SealError) {
                _ = try present.open(sealed, label: label)
                return nil
            } catch .notSealedByThisSecret {
                return try previous.open(sealed, label: label)
            }
        }
    }

    private func reencrypted(_ bytes: [UInt8], label: String) throws(SecretChangeError) -> Secret {
        let (old, new) = try SecretChangeError.wrapping(SecretChangeError.openSSL) { () throws(OpenSSLError) in
            (try previous.passphrase(for: label), try present.passphrase(for: label))
        }
        let key = try SecretChangeError.wrapping(SecretChangeError.key) { () throws(KeyError) in
            try SigningKey(encryptedPKCS8: bytes, passphrase: old)
        }
        return try SecretChangeError.wrapping(SecretChangeError.openSSL) { () throws(OpenSSLError) in
            Secret(try key.encryptedPKCS8(passphrase: new))
        }
    }

    private func seal(_ plain: Secret, label: String) throws(SecretChangeError) -> [UInt8] {
        try SecretChangeError.wrapping(SecretChangeError.openSSL) { () throws(OpenSSLError) in
            try present.seal(plain, label: label)
        }
    }
}

/// Why something could not be brought under another secret; it is as it was.
package enum SecretChangeError: Error, Equatable, Sendable, CustomStringConvertible {
    case seal(SealError)
    case key(KeyError)
    case openSSL(OpenSSLError)

    package var description: String {
        switch self {
        case .seal(.notSealedByThisSecret): "neither of the two secrets opens it, or it was changed since"
        case .seal(let cause): cause.description
        case .key(let cause): cause.description
        case .openSSL(let cause): cause.description
        }
    }

    /// Runs one step, and makes its error one of these.
    fileprivate static func wrapping<Result, Cause: Error>(
        _ wrap: (Cause) -> SecretChangeError, _ step: () throws(Cause) -> Result
    ) throws(SecretChangeError) -> Result {
        do throws(Cause) {
            return try step()
        } catch {
            throw wrap(error)
        }
    }
}
