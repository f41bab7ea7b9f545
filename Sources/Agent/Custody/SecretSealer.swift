package import IssuerProtocol
package import Keys
package import Records

/// Seals access tokens and push keys under the agent's secret.
package struct SecretSealer: SecretSealing {
    private let secrets: SealingSecrets

    package init(_ secrets: SealingSecrets) { self.secrets = secrets }

    package init(secret: AgentSecret) { self.init(SealingSecrets(secret)) }

    package func seal(_ token: AccessToken, for name: EnrollmentID) throws -> [UInt8] {
        try secrets.sealing.seal(Secret(Array(token.reveal().utf8)), label: SealedUse.accessToken(name).label)
    }

    package func open(_ sealed: [UInt8], for name: EnrollmentID) throws -> AccessToken {
        let opened = try secrets.open(sealed, label: SealedUse.accessToken(name).label)
        let bytes = unsafe opened.withBytes { unsafe Array($0) }
        guard let token = AccessToken(String(decoding: bytes, as: UTF8.self)) else {
            throw SealError.malformed
        }
        return token
    }

    package func seal(_ key: PushReceiverKey, for name: EnrollmentID) throws -> [UInt8] {
        try secrets.sealing.seal(key.secret(), label: SealedUse.pushKey(name).label)
    }

    package func openPushKey(_ sealed: [UInt8], for name: EnrollmentID) throws -> PushReceiverKey {
        try PushReceiverKey(secret: secrets.open(sealed, label: SealedUse.pushKey(name).label))
    }
}
