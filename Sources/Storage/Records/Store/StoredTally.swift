/// The messages of an enrollment in the store, and the bytes of them and of its issuer's.
package struct StoredTally: Sendable, Equatable {
    /// The messages of a time, each `jti` once.
    package let messages: Int
    /// About the bytes that the enrollment's messages take, with all that is kept of them.
    package let bytes: Int
    /// The same of all enrollments at its issuer.
    ///
    /// Without what other hosts have not committed.
    package let bytesOfIssuer: Int

    package init(messages: Int, bytes: Int, bytesOfIssuer: Int) {
        self.messages = messages
        self.bytes = bytes
        self.bytesOfIssuer = bytesOfIssuer
    }
}
