#if PostgreSQL
package import Authenticator
import PostgresRows
import StoreTables
import Synchronization
import TableRows

/// The store in a PostgreSQL database, which several hosts share.
///
/// Whoever writes about an enrollment holds its row first (`SELECT … FOR UPDATE`, READ COMMITTED), so that what it has
/// looked at stays so until its commit, on whatever host others run. Nothing rests on a clock or a lease.
package final class PostgresStore: Store {
    private let settings: PostgresSettings
    private let host: PostgresHost
    let incarnation: Int64
    private let sealing: Sealing
    private let writer: PostgresWorker
    private let readers: [PostgresWorker]
    private let nextReader = Mutex(0)
    private let head = LastHead()
    private let doubt = CommitDoubt()

    /// Connects, sees that commits are durable there, brings the schema up to date, and becomes the host.
    ///
    /// - Parameter open: opens an audit key that a host has sealed; each host that has one must have the same secret.
    /// - Throws: `StoreError`; what `open` throws, and then nothing was changed.
    package init(
        _ settings: PostgresSettings, host: PostgresHost, seals: any RowSeals,
        opening open: (_ auditKey: [UInt8]) throws -> Void = { _ in }
    ) throws {
        self.settings = settings
        self.host = host
        sealing = Sealing(seals: seals, isShared: true)
        let connect: @Sendable () throws -> PostgresConnection = { try settings.connection() }
        writer = PostgresWorker(label: "store-writer", open: connect)
        readers = (1...2).map { PostgresWorker(label: "store-reader-\($0)", open: connect) }
        let writer = writer
        incarnation = try Self.naming(settings) {
            try writer.runWaiting { connection in
                try PostgresServer.check(connection)
                try PostgresSchema.bringUpToDate(connection, for: host.name)
                for row in try connection.rows("SELECT sealed FROM audit_key ORDER BY host LIMIT 64") {
                    guard case .bytes(let sealed) = row.first ?? .null else { continue }
                    try open(sealed)
                }
                let incarnation = try host.claim(connection)
                try PostgresLineage.note(connection)
                return incarnation
            }
        }
    }

    package func read<T: Sendable>(_ body: @escaping @Sendable (any StoreReader) throws -> T) async throws -> T {
        let (host, sealing) = (host.name, sealing)
        let reader = nextReader.withLock { next in
            next = (next + 1) % readers.count
            return readers[next]
        }
        return try await Self.naming(settings) {
            try await reader.run { connection in
                let session = PostgresSession(connection, host: host)
                do {
                    try session.beginReading()
                    let result = try body(DatabaseTransaction(database: session, sealing: sealing, host: host))
                    try session.endReading()
                    return result
                } catch {
                    session.rollBack()
                    throw error
                }
            }
        }
    }

    package func write<T: Sendable>(_ body: @escaping @Sendable (any StoreWriter) throws -> T) async throws -> T {
        let (host, incarnation, sealing, settings) = (host.name, incarnation, sealing, settings)
        let (head, doubt) = (head, doubt)
        return try await Self.naming(settings) {
            try await writer.run { connection in
                try PostgresWrite(
                    connection: connection, host: host, incarnation: incarnation, sealing: sealing,
                    reopen: { try settings.connection() }, patience: settings.limits.answer, doubt: doubt,
                    head: head.sequence, noteHead: { head.sequence = $0 }
                ).run(body)
            }
        }
    }

    var hostName: HostName { host.name }

    /// A connection of its own, for what is not a part of the store.
    func worker(label: String) -> PostgresWorker {
        let settings = settings
        return PostgresWorker(label: label) { try settings.connection() }
    }

    /// Nothing: the server's logs and backups keep what was removed until they expire, and pages until they are vacuumed.
    package func scrub() async throws {}

    /// Waits for what is read and written, lets go of the host's name, and ends the connections.
    ///
    /// Nothing can be read or written any more.
    package func close() throws {
        try Self.naming(settings) { try writer.runWaiting { try host.letGo($0, incarnation) } }
        writer.close()
        for reader in readers { reader.close() }
    }
}

/// Where the journal ended when something was committed last.
private final class LastHead: Sendable {
    private let content = Mutex<Int64?>(nil)

    var sequence: Int64? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}

extension PostgresStore {
    /// Makes the agent's words of PostgreSQL's.
    private static func naming<T>(_ settings: PostgresSettings, _ body: () throws -> T) throws -> T {
        do { return try body() } catch { throw StoreError.naming(error, settings.place) }
    }

    private static func naming<T>(_ settings: PostgresSettings, _ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch { throw StoreError.naming(error, settings.place) }
    }
}
#endif
