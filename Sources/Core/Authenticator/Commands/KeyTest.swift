/// The result of the last test of a key.
package struct KeyTest: Sendable, Equatable {
    /// The extent of a test.
    package enum Extent: String, Sendable {
        /// The key had to open under the agent's secret, as far as that can be tested without its PIN.
        case seal
        /// The key had to sign random bytes, and the enrollment's public half to verify the signature.
        case signature
    }

    package let extent: Extent
    /// Seconds since 1970.
    package let at: Int64
    /// The reason why the key cannot be used, as a sentence, or `nil` if it can.
    package let problem: String?
}
