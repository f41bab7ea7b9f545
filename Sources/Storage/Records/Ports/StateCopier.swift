/// Copies the whole state of the agent while it runs.
package protocol StateCopier: Sendable {
    /// The approximate size of a copy, in bytes.
    var size: Int64 { get throws }

    /// Takes a consistent copy, and returns its bytes as one file, in pieces of at most 65,536 bytes.
    ///
    /// The copy is complete when this returns. If the iteration ends with an error, it has not returned all bytes.
    func copy() async throws -> any AsyncSequence<[UInt8], any Error> & Sendable
}
