package import Authenticator
package import IssuerProtocol
package import Keys

/// Encrypts under the agent's secret.
package struct SecretSealer: SecretSealing {
    private let secret: AgentSecret

    package init(secret: AgentSecret) { self.secret = secret }

    package func seal(_ token: AccessToken, for name: EnrollmentID) throws -> [UInt8] {
        try secret.seal(Secret(Array(token.reveal().utf8)), label: SealedUse.accessToken(name).label)
    }

    package func open(_ sealed: [UInt8], for name: EnrollmentID) throws -> AccessToken {
        let opened = try secret.open(sealed, label: SealedUse.accessToken(name).label)
        let bytes = unsafe opened.withBytes { unsafe Array($0) }
        guard let token = AccessToken(String(decoding: bytes, as: UTF8.self)) else {
            throw SealError.malformed
        }
        return token
    }

    package func seal(_ key: PushReceiverKey, for name: EnrollmentID) throws -> [UInt8] {
        try secret.seal(key.secret(), label: SealedUse.pushKey(name).label)
    }

    package func openPushKey(_ sealed: [UInt8], for name: EnrollmentID) throws -> PushReceiverKey {
        try PushReceiverKey(secret: secret.open(sealed, label: SealedUse.pushKey(name).label))
    }
}
