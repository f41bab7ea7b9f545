extension AgentSecret {
    /// The octets of what `authenticator` gives.
    package static let authenticatorCount = 32

    /// What only this secret makes of these octets under this label: who can make it for others has the secret.
    ///
    /// It is derived by HKDF-SHA256 as all keys are, for the SHA-256 of the octets, so it is a keyed hash of them.
    package func authenticator(of octets: [UInt8], label: String) throws(OpenSSLError) -> [UInt8] {
        let digest = try Secret(SHA256Digest.of(octets)).hexadecimal()
        let text = unsafe digest.withOctets { unsafe String(decoding: $0, as: UTF8.self) }
        return try unsafe derived("authenticator", "\(label) \(text)").withOctets { unsafe Array($0) }
    }

    /// Whether `authenticator` gave this for the same octets and label.
    package func isAuthenticator(_ code: [UInt8], of octets: [UInt8], label: String) throws(OpenSSLError) -> Bool {
        ConstantTime.equal(code, try authenticator(of: octets, label: label))
    }
}
