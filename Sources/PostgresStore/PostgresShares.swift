#if PostgreSQL
package import Authenticator
import Glibc
import Keys
import PostgresRows
import StoreTables
import Synchronization
import TableRows

/// This host's share of the work: buckets of enrollments, each leased by one host at a time.
///
/// Which host a bucket is for follows from the names of those that live (rendezvous hashing), so a host that comes takes
/// its part from each of the others, and gives it back when it goes. All times are the database's.
package final class PostgresShares: WorkShares {
    /// The number of buckets; the schema has as many rows.
    static let buckets = 256

    private struct State {
        var held: Set<Int> = []
        /// On the steady clock: not after what the database takes the leases to last.
        var until: Double = 0
    }

    private let host: HostName
    private let incarnation: Int64
    private let worker: PostgresWorker
    private let clock: any AgentClock
    private let lease: Int
    private let renewal: Double
    private let state = Mutex(State())

    /// Takes what is free of this host's part at once.
    ///
    /// - Parameters:
    ///   - lease: seconds for which a bucket stays with a host that has not renewed it.
    ///   - clock: by which the leases are renewed, three times in that time.
    package init(of store: PostgresStore, lease: Int = PostgresHost.lease, clock: any AgentClock) async throws {
        (host, incarnation, self.lease, self.clock) = (store.hostName, store.incarnation, lease, clock)
        renewal = Double(lease) / 3
        worker = store.worker(label: "store-leases")
        _ = try await renew()
    }

    package func isOurs(_ id: EnrollmentID) -> Bool {
        let bucket = Self.bucket(of: id)
        return state.withLock { $0.held.contains(bucket) && clock.steady < $0.until }
    }

    package func run(onChange: @escaping @Sendable () -> Void) async throws {
        while !Task.isCancelled {
            try await clock.sleep(seconds: renewal)
            // A database that does not answer keeps the share until the lease is over: nobody else gets it before.
            if (try? await renew()) == true { onChange() }
        }
    }

    /// Renews what is held, takes what is due, and lets go of what is another's.
    ///
    /// - Returns: whether other buckets than before are held.
    private func renew() async throws -> Bool {
        let begun = clock.steady
        let (host, incarnation, lease) = (host, incarnation, lease)
        let held = try await worker.run { connection in
            do {
                return try Self.renew(connection, host, incarnation, lease)
            } catch {
                if !connection.isBroken { _ = try? connection.rows("ROLLBACK") }
                throw error
            }
        }
        return state.withLock { state in
            let wasOver = state.until <= begun
            defer { state = State(held: held, until: begun + Double(lease)) }
            return wasOver || state.held != held
        }
    }

    private static func renew(
        _ connection: PostgresConnection, _ host: HostName, _ incarnation: Int64, _ lease: Int
    ) throws -> Set<Int> {
        try connection.queue("BEGIN")
        try connection.queue(
            """
            UPDATE host SET alive_until = clock_timestamp() + make_interval(secs => ?)
            WHERE name = ? AND incarnation = ?
            """, [lease, host.text, incarnation])
        let living = try connection.rows("SELECT name FROM host WHERE alive_until > clock_timestamp()")
            .compactMap { row in if case .text(let name) = row.first { name } else { nil } }
        let ours = (0..<buckets).filter { owner(of: $0, among: living) == host.text }
        let list = "[\(ours.map(String.init).joined(separator: ","))]"
        let isInList = "bucket IN (SELECT CAST(jsonb_array_elements_text(CAST(CAST(? AS TEXT) AS JSONB)) AS BIGINT))"
        try connection.queue(
            "UPDATE lease SET valid_until = clock_timestamp() WHERE host = ? AND NOT \(isInList)", [host.text, list])
        // In their order, so that no two hosts wait for each other.
        try connection.queue("SELECT 1 FROM lease WHERE \(isInList) ORDER BY bucket FOR UPDATE", [list])
        try connection.queue(
            """
            UPDATE lease SET epoch = epoch + CASE WHEN host = ?1 THEN 0 ELSE 1 END, host = ?1,
                valid_until = clock_timestamp() + make_interval(secs => ?2)
            WHERE (host = ?1 OR host IS NULL OR valid_until <= clock_timestamp()) AND \(isInList)
            RETURNING bucket
            """, [host.text, lease, list])
        try connection.queue("COMMIT")
        let answers = try connection.answers()
        return Set(
            answers.dropLast().last?.rows.compactMap { row in
                if case .number(let bucket) = row.first { Int(exactly: bucket) } else { nil }
            } ?? [])
    }

    /// The host with the greatest digest of its name and the bucket; nil if none lives.
    static func owner(of bucket: Int, among hosts: [String]) -> String? {
        hosts.max { weight($0, bucket).lexicographicallyPrecedes(weight($1, bucket)) }
    }

    private static func weight(_ host: String, _ bucket: Int) -> [UInt8] {
        (try? SHA256Digest.of(Array("\(bucket) \(host)".utf8))) ?? []
    }

    /// FNV-1a over the id: the same on every host.
    static func bucket(of id: EnrollmentID) -> Int {
        let hash = id.text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Int(hash % UInt64(buckets))
    }
}
#endif
