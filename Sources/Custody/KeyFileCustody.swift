package import Authenticator
package import IssuerProtocol
package import Keys

/// Private keys in files under the agent's secret: the one file from which a credential's key signs.
package struct KeyFileCustody: KeyCustody {
    private let directory: String
    private let secret: AgentSecret

    /// - Parameter directory: where the key files are; made with mode 0700 where it is not there.
    package init(directory: String, secret: AgentSecret) throws(FileError) {
        try PrivateDirectory.make(at: directory)
        self.directory = directory
        self.secret = secret
    }

    package func makeKey(named name: EnrollmentID, algorithm: SignatureAlgorithm) async throws -> PublicKey {
        let key = try SigningKey.generate(algorithm)
        try KeyFile.write(key, to: path(of: name), secret: secret, label: Self.keyLabel(name))
        return key.publicKey
    }

    package func signature(with name: EnrollmentID, for permit: SigningPermit) async throws -> [UInt8] {
        let key = try KeyFile.read(path: path(of: name), secret: secret, label: Self.keyLabel(name))
        return try key.signature(over: permit.octets)
    }

    package func uri(of name: EnrollmentID) -> String { "file:\(path(of: name))" }

    package func removeKey(named name: EnrollmentID) async throws { try KeyFile.remove(path: path(of: name)) }

    package func seal(_ token: AccessToken, for name: EnrollmentID) throws -> [UInt8] {
        try secret.seal(Secret(Array(token.reveal().utf8)), label: Self.tokenLabel(name))
    }

    package func open(_ sealed: [UInt8], for name: EnrollmentID) throws -> AccessToken {
        let octets = try unsafe secret.open(sealed, label: Self.tokenLabel(name)).withOctets { unsafe Array($0) }
        guard let token = AccessToken(String(decoding: octets, as: UTF8.self)) else {
            throw SealError.malformed
        }
        return token
    }

    private func path(of name: EnrollmentID) -> String { "\(directory)/\(name.text).key" }

    private static func keyLabel(_ name: EnrollmentID) -> String { "credential key \(name.text)" }

    private static func tokenLabel(_ name: EnrollmentID) -> String { "access token \(name.text)" }
}
