#if PostgreSQL
import Glibc
import Keys
package import Records
import Synchronization
import TableRows

/// This host's share of the work: buckets of enrollments, each leased to one host at a time.
///
/// Rendezvous hashing over the names of the running hosts assigns the buckets. So a new host takes its part from each
/// of the others, and they get it back when it stops. All times are the database's.
package final class PostgresShares: WorkShares {
    /// The number of buckets; the schema has as many rows.
    static let buckets: Int64 = 256

    private struct State {
        /// The epoch of each leased bucket.
        var held: [Int64: Int64] = [:]
        /// The end of the leases on the steady clock.
        ///
        /// Never later than the end in the database.
        var until: Double = 0
    }

    private let host: HostName
    private let incarnation: Int64
    private let worker: PostgresWorker
    /// The place of the database, for errors.
    private let place: String
    private let clock: any AgentClock
    private let lease: Duration
    private let clockGuard: ClockGuard
    private let tally: HostTally
    private let state = Mutex(State())

    /// Leases the free buckets of this host's part at once.
    ///
    /// - Parameter clock: the clock for the renewals, three in each lease.
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

    package func noteStaleEnd() { tally.count(\.staleEnds) }

    package var figures: HostFigures {
        var figures = tally.figures
        figures.secondsAhead = clockGuard.secondsAhead
        return figures
    }

    package func keep(onChange: @escaping @Sendable () -> Void) async throws {
        while !Task.isCancelled {
            try await clock.sleep(seconds: lease / .seconds(3))
            do {
                if try await renew() { onChange() }
            } catch is ClocksApartError {
                // With a wrong clock, a request may look expired that is not. Other hosts take the work over.
                release()
                onChange()
            } catch let taken as HostTakenError where taken.isShutOut {
                // Otherwise an idle host, which writes no rows, would not notice the shut-out.
                throw StoreError.naming(taken, place)
            } catch {
                // If the database does not answer, or another process is this host now, the share stays until the
                // lease ends. No other host can get it before.
            }
        }
    }

    /// Renews the leases, leases free buckets of this host's part, and releases buckets of others.
    ///
    /// - Returns: whether the leased buckets have changed.
    private func renew() async throws -> Bool {
        let begun = clock.steady
        let (host, incarnation, lease, clocks) = (host, incarnation, lease, (clockGuard, clockGuard.reading()))
        let held = try await worker.withConnection { connection in
            do {
                return try Self.renew(connection, host, incarnation, lease.wholeMilliseconds, clocks)
            } catch {
                // Reads the answers to statements that were queued.
                if !connection.isBroken { _ = try? connection.answers() }
                if !connection.isBroken { _ = try? connection.rows("ROLLBACK") }
                throw error
            }
        }
        return state.withLock { state in
            // If the leases ended while the database was waited for, other hosts may have had the buckets meanwhile.
            let wasOver = state.until <= clock.steady
            let before = state.held
            state = State(held: held, until: begun + lease / .seconds(1))
            tally.count(\.sharesTaken, held.count { before[$0.key] != $0.value })
            tally.count(\.sharesLost, before.count { held[$0.key] != $0.value })
            return wasOver || before != held
        }
    }

    private func release() { state.withLock { $0.until = 0 } }

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
        if case .number(let now)? = rows.first?.last { try clocks.guard.expectClose(now, since: clocks.begun) }
        let living = rows.compactMap { row in if case .text(let name) = row.first { name } else { nil } }
        let ours = (0..<buckets).filter { owner(of: $0, among: living) == host.text }
        let list = "[\(ours.map(String.init).joined(separator: ","))]"
        let isInList = "bucket IN (SELECT CAST(jsonb_array_elements_text(CAST(CAST(? AS TEXT) AS JSONB)) AS BIGINT))"
        // All locks in the order of the buckets, also for released buckets. Otherwise two hosts could deadlock.
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

    /// The host with the greatest digest of its name and the bucket, or `nil` if no host runs.
    static func owner(of bucket: Int64, among hosts: [String]) -> String? {
        hosts.max { weight($0, bucket).lexicographicallyPrecedes(weight($1, bucket)) }
    }

    private static func weight(_ host: String, _ bucket: Int64) -> [UInt8] {
        (try? SHA256Digest.of(Array("\(bucket) \(host)".utf8))) ?? []
    }

    /// FNV-1a over the id, which gives the same bucket on every host.
    static func bucket(of id: EnrollmentID) -> Int64 {
        let hash = id.text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Int64(hash % UInt64(buckets))
    }
}
#endif
