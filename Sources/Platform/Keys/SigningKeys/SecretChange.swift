/// The agent's secret and the one before it, during the change from one to the other.
///
/// All sealed bytes are under one of the two, and both are tried.
package struct SecretChange: Sendable {
    private let previous: AgentSecret
    private let present: AgentSecret

    package init(from previous: AgentSecret, to present: AgentSecret) {
        self.previous = previous
        self.present = present
    }

    /// Seals bytes under the present secret, or returns `nil` if they already are.
    package func resealed(_ sealed: [UInt8], label: String) throws(SecretChangeError) -> [UInt8]? {
        guard let plain = try opened(sealed, label: label) else { return nil }
        return try seal(plain, label: label)
    }

    /// Seals a sealed key under the present secret, or returns `nil` if it already is.
    ///
    /// A key under a PIN stays under it, and nobody has to enter the PIN.
    package func resealedKey(_ sealed: [UInt8], label: String) throws(SecretChangeError) -> [UInt8]? {
        guard let content = try opened(sealed, label: label) else { return nil }
        _ = try SecretChangeError.wrapping(SecretChangeError.key) { () throws(KeyError) in try SealedKey(content) }
        return try seal(content, label: label)
    }

    /// Opens bytes under the previous secret, or returns `nil` if they are under the present one already.
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

    private func seal(_ plain: Secret, label: String) throws(SecretChangeError) -> [UInt8] {
        try SecretChangeError.wrapping(SecretChangeError.openSSL) { () throws(OpenSSLError) in
            try present.seal(plain, label: label)
        }
    }
}

/// The reason why sealed bytes could not be put under another secret; they do not change then.
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

    /// Runs one step, and turns its error into one of these.
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
