#if PostgreSQL
import Glibc
import Keys
package import Records
import Synchronization
import TableRows

/// This host's share of the work: buckets of enrollments, each leased by one host at a time.
///
/// Which host a bucket is for follows from the names of those that live (rendezvous hashing), so a host that comes takes
/// its part from each of the others, and gives it back when it goes. All times are the database's.
package final class PostgresShares: WorkShares {
    /// The number of buckets; the schema has as many rows.
    static let buckets: Int64 = 256

    private struct State {
        /// Each with its epoch.
        var held: [Int64: Int64] = [:]
        /// On the steady clock: not after what the database takes the leases to last.
        var until: Double = 0
    }

    private let host: HostName
    private let incarnation: Int64
    private let worker: PostgresWorker
    /// Where the database is, for errors.
    private let place: String
    private let clock: any AgentClock
    private let lease: Duration
    private let clockGuard: ClockGuard
    private let tally: HostTally
    private let state = Mutex(State())

    /// Takes what is free of this host's part at once.
    ///
    /// - Parameter clock: by which the leases are renewed, three times while they last.
    /// - Throws: `StoreError`.
    package init(of store: PostgresStore, clock: any AgentClock) async throws {
        (host, incarnation, lease, self.clock) = (store.hostName, store.incarnation, store.lease, clock)
        (clockGuard, tally, place) = (store.clockGuard, store.tally, store.settings.place)
        worker = store.worker(label: "store-leases")
        try await store.naming { _ = try await renew() }
    }

    package func term(of id: EnrollmentID) -> WorkTerm? {
        let bucket = Self.bucket(of: id)
        return state.withLock { state in
            guard clock.steady < state.until else { return nil }
            return state.held[bucket].map { WorkTerm(share: bucket, epoch: $0) }
        }
    }

    package func noteStaleEnd() { tally.note(\.staleEnds) }

    package var figures: HostFigures {
        var figures = tally.figures
        figures.secondsAhead = clockGuard.secondsAhead
        return figures
    }

    package func run(onChange: @escaping @Sendable () -> Void) async throws {
        while !Task.isCancelled {
            try await clock.sleep(seconds: lease / .seconds(3))
            do {
                if try await renew() { onChange() }
            } catch is ClocksApartError {
                // What a wrong clock takes for expired is not to be dropped: others take it over.
                letGo()
                onChange()
            } catch let taken as HostTakenError where taken.isShutOut {
                // A host that has nothing to write notices it nowhere else.
                throw StoreError.naming(taken, place)
            } catch {
                // A database that does not answer keeps the share until the lease is over: nobody else gets it before.
            }
        }
    }

    /// Renews what is held, takes what is due, and lets go of what is another's.
    ///
    /// - Returns: whether other buckets than before are held.
    private func renew() async throws -> Bool {
        let begun = clock.steady
        let (host, incarnation, lease, clocks) = (host, incarnation, lease, (clockGuard, clockGuard.reading()))
        let held = try await worker.run { connection in
            do {
                return try Self.renew(connection, host, incarnation, lease.wholeMilliseconds, clocks)
            } catch {
                // What was sent and not waited for.
                if !connection.isBroken { _ = try? connection.answers() }
                if !connection.isBroken { _ = try? connection.rows("ROLLBACK") }
                throw error
            }
        }
        return state.withLock { state in
            // Also if it ran out while the database was waited for: meanwhile nothing was this host's.
            let wasOver = state.until <= clock.steady
            let before = state.held
            state = State(held: held, until: begun + lease / .seconds(1))
            tally.note(\.sharesTaken, held.count { before[$0.key] != $0.value })
            tally.note(\.sharesLost, before.count { held[$0.key] != $0.value })
            return wasOver || before != held
        }
    }

    private func letGo() { state.withLock { $0.until = 0 } }

    private static func renew(
        _ connection: PostgresConnection, _ host: HostName, _ incarnation: Int64, _ lease: Int64,
        _ clocks: (guard: ClockGuard, begun: ClockGuard.Reading?)
    ) throws -> [Int64: Int64] {
        try connection.begin("BEGIN")
        let isAlive = try connection.changes(
            """
            UPDATE host SET alive_until = clock_timestamp() + ? * interval '1 ms'
            WHERE name = ? AND incarnation = ?
            """, [.number(lease), .text(host.text), .number(incarnation)])
        guard isAlive == 1 else {
            let rows = try connection.rows("SELECT incarnation FROM host WHERE name = ?", [.text(host.text)])
            throw HostTakenError(host: host, incarnation: rows.first?.first)
        }
        let rows = try connection.rows(
            "SELECT name, \(PostgresServer.clock) FROM host WHERE alive_until > clock_timestamp()")
        if case .number(let now)? = rows.first?.last { try clocks.guard.check(now, since: clocks.begun) }
        let living = rows.compactMap { row in if case .text(let name) = row.first { name } else { nil } }
        let ours = (0..<buckets).filter { owner(of: $0, among: living) == host.text }
        let list = "[\(ours.map(String.init).joined(separator: ","))]"
        let isInList = "bucket IN (SELECT CAST(jsonb_array_elements_text(CAST(CAST(? AS TEXT) AS JSONB)) AS BIGINT))"
        // In their order, those that are let go too: otherwise two hosts could wait for each other.
        try connection.queue(
            "SELECT 1 FROM lease WHERE host = ? OR \(isInList) ORDER BY bucket FOR UPDATE", [host.text, list])
        try connection.queue(
            "UPDATE lease SET valid_until = clock_timestamp() WHERE host = ? AND NOT \(isInList)", [host.text, list])
        try connection.queue(
            """
            UPDATE lease SET epoch = epoch + CASE WHEN host = ?1 THEN 0 ELSE 1 END, host = ?1,
                valid_until = clock_timestamp() + ?2 * interval '1 ms'
            WHERE (host = ?1 OR host IS NULL OR valid_until <= clock_timestamp()) AND \(isInList)
            RETURNING bucket, epoch
            """, [host.text, lease, list])
        try connection.queue("COMMIT")
        let answers = try connection.answers()
        let leases = (answers.dropLast().last?.rows ?? []).compactMap { row -> (Int64, Int64)? in
            guard row.count == 2, case .number(let bucket) = row[0], case .number(let epoch) = row[1] else {
                return nil
            }
            return (bucket, epoch)
        }
        return Dictionary(leases) { $1 }
    }

    /// The host with the greatest digest of its name and the bucket; nil if none lives.
    static func owner(of bucket: Int64, among hosts: [String]) -> String? {
        hosts.max { weight($0, bucket).lexicographicallyPrecedes(weight($1, bucket)) }
    }

    private static func weight(_ host: String, _ bucket: Int64) -> [UInt8] {
        (try? SHA256Digest.of(Array("\(bucket) \(host)".utf8))) ?? []
    }

    /// FNV-1a over the id: the same on every host.
    static func bucket(of id: EnrollmentID) -> Int64 {
        let hash = id.text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Int64(hash % UInt64(buckets))
    }
}
#endif
