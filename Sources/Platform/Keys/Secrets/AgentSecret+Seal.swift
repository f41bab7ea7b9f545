extension AgentSecret {
    /// The first byte of sealed bytes: the version of their format.
    private static let formVersion: UInt8 = 1
    private static let overhead = 1 + CipherContext.nonceCount + CipherContext.tagCount
    /// The most bytes that `open` reads, far above the size of any key.
    private static let maxSealed = 1 << 20

    /// Encrypts under a key for this label: version (01) || nonce (12) || AES-256-GCM ciphertext || tag (16).
    ///
    /// The label is authenticated too, but not contained. Every call returns different bytes.
    package func seal(_ plain: Secret, label: String) throws(OpenSSLError) -> [UInt8] {
        let nonce = try SecureRandom.bytes(CipherContext.nonceCount)
        let sealed = try CipherContext()
            .encrypt(plain, key: sealingKey(for: label), nonce: nonce, additional: Array(label.utf8))
        return [Self.formVersion] + nonce + sealed
    }

    /// Decrypts the result of `seal` for the same label under the same secret.
    package func open(_ sealed: [UInt8], label: String) throws(SealError) -> Secret {
        guard (Self.overhead...Self.maxSealed).contains(sealed.count), sealed[0] == Self.formVersion else {
            throw .malformed
        }
        let body = sealed.dropFirst()
        let nonce = Array(body.prefix(CipherContext.nonceCount))
        let ciphertext = Array(body.dropFirst(nonce.count).dropLast(CipherContext.tagCount))
        let tag = Array(body.suffix(CipherContext.tagCount))
        do throws(OpenSSLError) {
            let plain = try CipherContext().decrypt(
                ciphertext, tag: tag, key: sealingKey(for: label), nonce: nonce, additional: Array(label.utf8))
            if let plain { return plain }
        } catch {
            throw .openSSL(error)
        }
        throw .notSealedByThisSecret
    }
}

/// The reason why sealed bytes cannot be opened.
///
/// It never contains any of the bytes.
package enum SealError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The secret or the label differs, or the bytes were changed: the three cannot be told apart.
    case notSealedByThisSecret
    /// The bytes are too short, too long, or of a version that this program does not know.
    case malformed
    case openSSL(OpenSSLError)

    package var description: String {
        switch self {
        case .notSealedByThisSecret: "it was not sealed by this secret for this use, or it was changed since"
        case .malformed: "it is not in the form that this program seals"
        case .openSSL(let cause): cause.description
        }
    }
}
