/// What the store holds of an enrollment's messages, and of its issuer's.
package struct StoredTally: Sendable, Equatable {
    /// The messages of a time, each `jti` once.
    package let messages: Int
    /// About the bytes that the enrollment's messages take, with all that is kept of them.
    package let bytes: Int
    /// The same of all enrollments at its issuer.
    ///
    /// What other hosts have not committed is not among it.
    package let bytesOfIssuer: Int

    package init(messages: Int, bytes: Int, bytesOfIssuer: Int) {
        self.messages = messages
        self.bytes = bytes
        self.bytesOfIssuer = bytesOfIssuer
    }
}
