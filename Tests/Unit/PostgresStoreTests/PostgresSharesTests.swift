#if PostgreSQL
import Records
import Foundation
import StandingClocks
import StoreTables
import Synchronization
import TableRows
import TestStores
import Testing

@testable import PostgresStore

/// A host's share of the work.
@Suite(.timeLimit(.minutes(20)))
struct PostgresSharesTests {
    private let cluster: PostgresCluster
    private let settings: PostgresSettings

    init() throws {
        cluster = try PostgresCluster.shared()
        settings = try cluster.settings(ofDatabaseFor: "shares \(UUID().uuidString)")
    }

    private func store(_ host: String) throws -> PostgresStore {
        let host = PostgresHost(name: try #require(HostName(host)), identity: Array(host.utf8), lease: .seconds(3_600))
        return try PostgresStore(settings, host: host, seals: NoRowSeals(), dataKeys: UnsealedDataKeys())
    }

    @Test func `a database that takes no connection any more is named as the store's error`() async throws {
        let store = try store("alpha")
        let rows = try settings.connection().rows("SELECT current_database()")
        guard case .text(let database)? = rows.first?.first else {
            Issue.record("the database has no name")
            return
        }
        _ = try cluster.settings(of: "postgres").connection().rows("ALTER DATABASE \(database) ALLOW_CONNECTIONS false")
        await #expect(throws: StoreError.self) {
            try await PostgresShares(of: store, clock: StandingClock())
        }
    }

    @Test func `leases are locked in their order, those that are let go too, so that no two hosts wait for each other`()
        async throws
    {
        let alpha = try store("alpha")
        _ = try await PostgresShares(of: alpha, clock: StandingClock())
        _ = try store("beta")
        let first = try #require(
            (0..<PostgresShares.buckets).first { PostgresShares.owner(of: $0, among: ["alpha", "beta"]) == "alpha" })
        let other = try settings.connection()
        _ = try other.rows("BEGIN")
        _ = try other.rows("SELECT 1 FROM lease WHERE bucket = ? FOR UPDATE", [.number(first)])
        async let renewal = PostgresShares(of: alpha, clock: StandingClock())
        let looker = try settings.connection()
        let isWaiting = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        while try looker.rows(isWaiting) != [[.number(1)]] { await Task.yield() }
        let free = try looker.rows("SELECT bucket FROM lease ORDER BY bucket FOR UPDATE SKIP LOCKED")
        #expect(free == (first + 1..<PostgresShares.buckets).map { [.number($0)] })
        _ = try other.rows("ROLLBACK")
        _ = try await renewal
    }

    @Test func `a lease counts from before the database is asked, however late it answers`() async throws {
        let (alpha, clock) = (try store("alpha"), SteadyClock())
        let id = try #require(EnrollmentID(String(repeating: "a", count: 20)))
        #expect(try await PostgresShares(of: alpha, clock: clock).term(of: id) != nil)
        let other = try settings.connection()
        _ = try other.rows("BEGIN")
        _ = try other.rows("SELECT 1 FROM lease FOR UPDATE")
        async let late = PostgresShares(of: alpha, clock: clock)
        let looker = try settings.connection()
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        while try looker.rows(waiting) != [[.number(1)]] { await Task.yield() }
        clock.advance(by: 3_600)
        _ = try other.rows("ROLLBACK")
        #expect(try await late.term(of: id) == nil)
    }

    @Test func `a host that is shut out ends its share though it writes nothing`() async throws {
        let (alpha, clock) = (try store("alpha"), SteadyClock())
        let shares = try await PostgresShares(of: alpha, clock: clock)
        _ = try settings.connection().rows("UPDATE host SET incarnation = -abs(incarnation) - 1")
        #expect(try await end(of: shares, clock)?.kind == .shutOut)
    }

    /// The error that ends a host's shares at their next renewal, or `nil` if they are kept.
    private func end(of shares: PostgresShares, _ clock: SteadyClock) async throws -> StoreError? {
        async let end: Void = shares.keep {}
        await clock.endSleep(after: 1_200)
        do { try await end } catch let trouble as StoreError { return trouble }
        return nil
    }

    @Test func `a silent host that a move has shut out ends its share`() async throws {
        let (alpha, clock) = (try store("alpha"), SteadyClock())
        let shares = try await PostgresShares(of: try store("beta"), clock: clock)
        _ = try settings.connection().rows("UPDATE host SET alive_until = clock_timestamp() WHERE name = 'beta'")
        _ = try await alpha.expectAlone()
        let trouble = try await end(of: shares, clock)
        #expect(trouble?.kind == .shutOut && trouble?.sentence.contains("or the state moved") == true)
    }

    @Test func `a host that was shut out never gets the number again that a process of it had`() async throws {
        let (alpha, beta) = (try store("alpha"), try store("beta"))
        _ = try settings.connection().rows(
            """
            UPDATE host SET incarnation = -abs(incarnation) - 1, alive_until = clock_timestamp() WHERE name = 'beta'
            """)
        for _ in 0..<2 { _ = try await alpha.expectAlone() }
        #expect(try store("beta").incarnation > beta.incarnation)
    }

    @Test func `a host that gets its shares back after its lease ran out is told, and one that kept them is not`()
        async throws
    {
        let (alpha, clock) = (try store("alpha"), SteadyClock())
        let shares = try await PostgresShares(of: alpha, clock: clock)
        let (told, telling) = AsyncStream.makeStream(of: Double.self)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await shares.keep { telling.yield(clock.steady) } }
            // Renewed twice in time, then not for longer than the lease, and once more, so that the third has ended.
            for pause in [1_200.0, 1_200, 7_200, 0] { await clock.endSleep(after: pause) }
            telling.finish()
            let moments = await told.reduce(into: []) { $0.append($1) }
            #expect(moments == [9_600])
            group.cancelAll()
        }
    }
}

/// A clock that a test sets forward, and whose one sleeper it wakes.
private final class SteadyClock: AgentClock {
    private let seconds = Mutex(0.0)
    private let sleeping = AsyncStream.makeStream(of: Void.self)
    private let waking = AsyncStream.makeStream(of: Void.self)

    var now: Int64 { 1_697_522_198 }
    var steady: Double { seconds.withLock { $0 } }

    func advance(by more: Double) { seconds.withLock { $0 += more } }

    /// Waits until somebody sleeps, and wakes them after so many seconds.
    func endSleep(after pause: Double) async {
        for await _ in sleeping.stream { break }
        advance(by: pause)
        waking.continuation.yield()
    }

    func sleep(seconds: Double) async throws {
        sleeping.continuation.yield()
        for await _ in waking.stream { return }
        throw CancellationError()
    }
}
#endif
