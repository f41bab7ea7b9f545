/// Makes copies of all that the agent keeps, while it runs.
package protocol StateCopier: Sendable {
    /// About how many bytes a copy has.
    var size: Int64 { get throws }

    /// Takes a consistent copy, and gives the bytes of it as one file, in pieces of at most 65,536 bytes.
    ///
    /// It has been taken when this returns; an iteration that ends by an error has not given all of it.
    func copy() async throws -> any AsyncSequence<[UInt8], any Error> & Sendable
}
