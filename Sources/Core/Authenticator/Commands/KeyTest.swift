/// The result of the last look at a key.
package struct KeyTest: Sendable, Equatable {
    /// The extent of a look.
    package enum Extent: String, Sendable {
        /// It opens under the agent's secret, as far as that shows without its PIN.
        case seal
        /// It signed random bytes, and the enrollment's public half verified that.
        case signature
    }

    package let extent: Extent
    /// Seconds since 1970.
    package let at: Int64
    /// The reason why the key cannot be used, as a sentence; nil if it can.
    package let problem: String?
}
