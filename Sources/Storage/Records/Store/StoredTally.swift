/// The number of messages of an enrollment, and the bytes of the enrollment and of its issuer.
package struct StoredTally: Sendable, Equatable {
    /// The number of messages in a period; each `jti` counts once.
    package let messages: Int
    /// The approximate bytes of the enrollment's messages, with all data kept about them.
    package let bytes: Int
    /// The same for all enrollments at its issuer.
    ///
    /// Uncommitted data of other hosts does not count.
    package let bytesOfIssuer: Int

    package init(messages: Int, bytes: Int, bytesOfIssuer: Int) {
        self.messages = messages
        self.bytes = bytes
        self.bytesOfIssuer = bytesOfIssuer
    }
}
