/// The store of everything that must survive a restart of the process.
///
/// A write is one database transaction: when `write` returns, all of it is durable; if it throws, none of it happened,
/// unless the error is a ``StoreError`` with `isInDoubt`. Cancelling the caller does not interrupt a write that has
/// begun. Bodies are synchronous, so a database transaction cannot wait for the network or a key. A body may run again
/// if its first run was rolled back.
package protocol Store: Sendable {
    func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T
    /// Reads for work that goes through a whole table, one page a call.
    ///
    /// It does not use up a connection of other reads.
    func survey<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T
    func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T
    /// Writes the outcome of work that was begun, even if the caller was cancelled meanwhile.
    func conclude<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T
    /// Removes from the store's files every trace of values that writes have deleted or overwritten.
    ///
    /// Other writes wait meanwhile. It takes as long as writing the whole store anew.
    func scrub() async throws
    /// Copies the write-ahead log into the store's file and truncates the log (a checkpoint).
    ///
    /// The files then no longer contain a value that was overwritten in place.
    ///
    /// - Returns: false if another program reads the files, for example to copy them. The log is not empty then.
    func emptyLog() async throws -> Bool
    /// Frees the disk space that is reserved for a full disk.
    ///
    /// - Returns: whether a write that failed for lack of space is worth a second try.
    func giveUpReserve() async -> Bool
    /// Reserves disk space for a full disk, unless it is reserved already.
    ///
    /// - Throws: `StoreError` of kind `full` if there is too little space.
    func keepReserve() async throws
}

extension Store {
    package func survey<T: Sendable>(
        _ body: @escaping @Sendable (StoreReading) throws -> T
    ) async throws -> T { try await read(body) }

    package func conclude<T: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> T
    ) async throws -> T { try await write(body) }

    /// Returns false: a store on another machine reserves no disk space.
    package func giveUpReserve() async -> Bool { false }

    package func keepReserve() async throws {}
}
