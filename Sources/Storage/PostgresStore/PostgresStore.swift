#if PostgreSQL
package import Records
package import StoreTables
import Synchronization
import TableRows

/// The store in a PostgreSQL database that several hosts share.
///
/// A write locks the row of its enrollment first (`SELECT … FOR UPDATE`, READ COMMITTED). So the data that it reads
/// does not change until its commit, on any host. Safety does not depend on a clock or a lease.
package final class PostgresStore: Store {
    let settings: PostgresSettings
    private let host: PostgresHost
    let incarnation: Int64
    /// Whether this host seals under the present secret.
    ///
    /// Else it seals under the previous one, because other hosts lack the present one.
    package let isPresentSecretInUse: Bool
    /// The hosts that were running when this one started, and that lack its present secret.
    package let hostsWithoutSecret: [String]
    private let sealing: Sealing
    private let writer: PostgresWorker
    private let readers: [PostgresWorker]
    /// The connection for audits and other reads of whole tables, so that they do not occupy a reader.
    private let surveyor: PostgresWorker
    private let nextReader = Mutex(0)
    private let head = LastHead()
    private let doubt = CommitDoubt()
    let clockGuard: ClockGuard
    let tally = HostTally()

    /// Connects, verifies that commits are durable, creates the tables if there are none, and becomes the host.
    ///
    /// - Parameters:
    ///   - dataKeys: the seals of the keys that encrypt the personal data of enrollments.
    ///   - clock: the machine's clock, which must be within ``ClockGuard/tolerance`` of the database's. `nil` skips the
    ///     check.
    ///   - secrets: the fingerprints of the secrets that make and open the seals.
    ///   - mayEnterUnfinished: whether the host may enter before a move into the database is complete.
    ///   - open: opens an audit key that a host has sealed. All hosts with an audit key must have the same secret.
    /// - Throws: `StoreError`, ``SecretChangeRefusal``, or an error of `open`. The tables may have been created by
    ///   then. After a late `StoreError` this process may be the host, and enrollments marked for a new lineage.
    package init(
        _ settings: PostgresSettings, host: PostgresHost, seals: any RowSeals, dataKeys: any DataKeySeals,
        clock: (any AgentClock)? = nil, secrets: HostSecrets = HostSecrets(), mayEnterUnfinished: Bool = false,
        opening open: @escaping (_ auditKey: [UInt8]) throws -> SecretAge = { _ in .present }
    ) throws {
        self.settings = settings
        self.host = host
        sealing = Sealing(seals: seals, dataKeys: dataKeys, isShared: true)
        clockGuard = ClockGuard(clock)
        let clockGuard = clockGuard
        let connect: @Sendable () throws -> PostgresConnection = { try settings.connection() }
        writer = PostgresWorker(label: "store-writer", open: connect)
        readers = (1...2).map { PostgresWorker(label: "store-reader-\($0)", open: connect) }
        surveyor = PostgresWorker(label: "store-surveyor", open: connect)
        let writer = writer
        let entry = try Self.naming(settings) {
            try writer.runWaiting { connection in
                try PostgresServer.expectFit(connection, clockGuard)
                // Before the first write. The entrance does it again, in case another host has created its key
                // meanwhile.
                try Self.openKeys(connection) { _ = try open($0) }
                try PostgresSchema.prepare(connection, for: host.name)
                let entry = try PostgresEntrance(
                    host: host, secrets: secrets, mayEnterUnfinished: mayEnterUnfinished, open: open
                ).enter(connection)
                try PostgresLineage.record(connection)
                return entry
            }
        }
        (incarnation, isPresentSecretInUse) = (entry.incarnation, entry.isPresentSecretInUse)
        hostsWithoutSecret = entry.lacking
    }

    /// Lets hosts start on a state that was moved into the database and has been inspected.
    package func admitHosts() async throws {
        try await Self.naming(settings) {
            try await writer.withConnection { _ = try $0.rows("DELETE FROM moved_state WHERE direction = 'in'") }
        }
    }

    /// Lets hosts start as before, if a change of the secret has changed no row.
    package func abandonSecretChange() async throws {
        try await Self.naming(settings) {
            try await writer.withConnection { _ = try $0.rows(SecretChangeStatement.abandon) }
        }
    }

    private static func openKeys(_ connection: PostgresConnection, _ open: (_ auditKey: [UInt8]) throws -> Void) throws
    {
        let isThere = try connection.rows("SELECT to_regclass('audit_key') IS NOT NULL").first?.first
        guard isThere == .number(1) else { return }
        for row in try connection.rows("SELECT sealed FROM audit_key ORDER BY host LIMIT 64") {
            guard case .bytes(let sealed) = row.first ?? .null else { continue }
            try open(sealed)
        }
    }

    package func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        let reader = nextReader.withLock { next in
            next = (next + 1) % readers.count
            return readers[next]
        }
        return try await read(on: reader, body)
    }

    package func survey<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try Task.checkCancellation()
        return try await read(on: surveyor, body)
    }

    private func read<T: Sendable>(
        on reader: PostgresWorker, _ body: @escaping @Sendable (StoreReading) throws -> T
    ) async throws -> T {
        let (host, sealing) = (host.name, sealing)
        return try await Self.naming(settings) {
            try await reader.withConnection { connection in
                let session = PostgresSession(connection, host: host)
                do {
                    try session.beginReading()
                    let result = try body(StoreReading(database: session, sealing: sealing, host: host))
                    try session.endReading()
                    return result
                } catch {
                    session.rollBack()
                    throw error
                }
            }
        }
    }

    package func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        let (host, incarnation, sealing, settings) = (host.name, incarnation, sealing, settings)
        let (head, doubt, clockGuard, tally) = (head, doubt, clockGuard, tally)
        let wanted = clockGuard.reading()
        return try await Self.naming(settings) {
            try await writer.withConnection { connection in
                try PostgresWrite(
                    connection: connection, host: host, incarnation: incarnation, sealing: sealing,
                    clocks: (clockGuard, wanted), tally: tally, reopen: { try settings.connection() },
                    patience: settings.limits.answer, doubt: doubt,
                    head: head.sequence, noteHead: { head.sequence = $0 }
                ).perform(body)
            }
        }
    }

    /// The reason why a commit could be lost with its server, or `nil` if `synchronous_standby_names` is set.
    package func durabilityGap() async throws -> String? {
        try await Self.naming(settings) {
            try await readers[0].withConnection { connection in
                let row = try connection.rows("SELECT current_setting('synchronous_standby_names')").first
                guard row?.first == .text("") else { return nil }
                return
                    "the database has no synchronous standby (synchronous_standby_names is empty): what was acknowledged is "
                    + "lost with its server's disk"
            }
        }
    }

    var hostName: HostName { host.name }

    /// Runs `body` on the writing connection, after all earlier writes.
    func withConnection<T: Sendable>(_ body: @escaping @Sendable (PostgresConnection) throws -> T) async throws -> T {
        try await writer.withConnection(body)
    }

    var lease: Duration { host.lease }

    /// Creates a connection of its own, for work outside the store.
    func worker(label: String) -> PostgresWorker {
        let settings = settings
        return PostgresWorker(label: label) { try settings.connection() }
    }

    /// Converts PostgreSQL's errors to the agent's, for users of such a connection.
    func naming<T>(_ body: () async throws -> T) async throws -> T { try await Self.naming(settings, body) }

    /// Does no work: the server's logs and backups keep deleted values until they expire, and pages until a vacuum.
    package func scrub() async throws {}

    package func emptyLog() async throws -> Bool { true }

    /// Waits for running reads and writes, releases the host's name, and closes the connections.
    ///
    /// The store cannot be used afterwards.
    package func close() throws {
        try Self.naming(settings) { try writer.runWaiting { try host.release($0, incarnation) } }
        writer.close()
        for reader in readers + [surveyor] { reader.close() }
    }
}

/// The end of the journal at the last commit.
private final class LastHead: Sendable {
    private let content = Mutex<Int64?>(nil)

    var sequence: Int64? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}

extension PostgresStore {
    /// Converts PostgreSQL's errors to the agent's.
    private static func naming<T>(_ settings: PostgresSettings, _ body: () throws -> T) throws -> T {
        do { return try body() } catch { throw StoreError.naming(error, settings.place) }
    }

    private static func naming<T>(_ settings: PostgresSettings, _ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch { throw StoreError.naming(error, settings.place) }
    }
}
#endif
