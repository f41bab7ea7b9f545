extension AgentSecret {
    /// The bytes of what `authenticator` gives.
    package static let authenticatorCount = 32

    /// What only this secret makes of these bytes under this label: who can make it for others has the secret.
    ///
    /// It is derived by HKDF-SHA256 as all keys are, for the SHA-256 of the bytes, so it is a keyed hash of them.
    package func authenticator(of bytes: [UInt8], label: String) throws(OpenSSLError) -> [UInt8] {
        let digest = try Secret(SHA256Digest.of(bytes)).hexadecimal()
        let text = unsafe digest.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
        return try unsafe derived("authenticator", "\(label) \(text)").withBytes { unsafe Array($0) }
    }

    /// Whether `authenticator` gave this for the same bytes and label.
    package func isAuthenticator(_ code: [UInt8], of bytes: [UInt8], label: String) throws(OpenSSLError) -> Bool {
        ConstantTime.equal(code, try authenticator(of: bytes, label: label))
    }
}
