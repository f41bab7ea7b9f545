import Authenticator
package import Keys

/// Seals enrollment rows under the agent's secret.
package struct RowSealer: RowSeals {
    private static let label = SealedUse.enrollmentRow.label

    private let secret: AgentSecret
    private let previous: AgentSecret?

    /// - Parameter previous: the secret that rows may still be sealed under, while the agent's secret changes.
    package init(secret: AgentSecret, previous: AgentSecret? = nil) {
        self.secret = secret
        self.previous = previous
    }

    package func seal(_ bytes: [UInt8]) throws -> [UInt8] {
        try secret.authenticator(of: bytes, label: Self.label)
    }

    package func isSeal(_ seal: [UInt8], of bytes: [UInt8]) throws -> Bool {
        if try secret.isAuthenticator(seal, of: bytes, label: Self.label) { return true }
        return try previous?.isAuthenticator(seal, of: bytes, label: Self.label) ?? false
    }
}
