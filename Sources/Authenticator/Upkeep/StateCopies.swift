/// Who makes copies of all that the agent keeps, while it runs.
package protocol StateCopier: Sendable {
    /// Takes a consistent copy, and gives the bytes of it as one file, in pieces of at most 66,048 bytes.
    ///
    /// It has been taken when this returns; an iteration that ends by an error has not given all of it.
    func copy() async throws -> any AsyncSequence<[UInt8], any Error> & Sendable
}

/// A store that can be copied while it is in use.
package protocol CopyableStore: Store {
    /// Writes a consistent copy to a new file; what was removed from the store is not in it. Neither reads nor writes
    /// wait.
    func copy(to path: String) async throws -> StoreCopy
}

/// What a copy of a store holds.
package struct StoreCopy: Sendable {
    /// The names of the migrations that it has been through.
    package let schema: [String]

    package init(schema: [String]) { self.schema = schema }
}
