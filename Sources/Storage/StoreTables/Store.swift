/// Where everything that must outlive the process is kept.
///
/// A write is in one database transaction: all of it is durable when `write` returns, or nothing of it happened. Once
/// it has been begun it is not cut off by its caller's cancellation. Bodies are synchronous, so nothing can wait for the
/// network or a key inside a database transaction; one may be run again if the first time was undone.
package protocol Store: Sendable {
    func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T
    /// Reads for work that goes through all that is there, a page in each call, and keeps no place of other reads.
    func survey<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T
    func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T
    /// Writes what has come of something that was begun, also if its caller was cancelled meanwhile.
    func conclude<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T
    /// Sees that what writes have removed or written over is nowhere in the store's files any more.
    ///
    /// Writes wait meanwhile: it takes as long as writing the whole store anew.
    func scrub() async throws
    /// Brings all that was written into the store's file, and empties its write-ahead log.
    ///
    /// The files then have nothing more of a value that was written over in its place.
    ///
    /// - Returns: false if another program reads the files, such as for a copy: then the log is not empty.
    func emptyLog() async throws -> Bool
    /// Gives up the room that is kept for a full disk.
    ///
    /// - Returns: whether a write that found no room is worth a second try.
    func giveUpReserve() async -> Bool
    /// Keeps room on the disk for when it is full, unless that is kept already.
    ///
    /// - Throws: `StoreError` of kind `full` if there is too little room.
    func keepReserve() async throws
}

extension Store {
    package func survey<T: Sendable>(
        _ body: @escaping @Sendable (StoreReading) throws -> T
    ) async throws -> T { try await read(body) }

    package func conclude<T: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> T
    ) async throws -> T { try await write(body) }

    /// A store on another machine's disk keeps none.
    package func giveUpReserve() async -> Bool { false }

    package func keepReserve() async throws {}
}
