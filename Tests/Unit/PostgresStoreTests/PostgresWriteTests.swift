#if PostgreSQL
import Records
import Foundation
import StoreTables
import Synchronization
import TableRows
import TestStores
import Testing

@testable import PostgresStore

/// A database transaction that writes.
@Suite(.timeLimit(.minutes(20)))
struct PostgresWriteTests {
    /// A write of a host of its own, with what it needs.
    private func write(
        _ connection: PostgresConnection, clocks: (ClockGuard, ClockGuard.Reading?) = (ClockGuard(nil), nil),
        tally: HostTally = HostTally(), reopen: @escaping () throws -> PostgresConnection
    ) throws -> PostgresWrite {
        let host = PostgresHost(name: try #require(HostName("alpha")), identity: [1])
        try PostgresSchema.prepare(connection, for: host.name)
        let incarnation = try host.claim(connection, seals: [], opens: [])
        return PostgresWrite(
            connection: connection, host: host.name, incarnation: incarnation,
            sealing: Sealing(seals: NoRowSeals(), dataKeys: UnsealedDataKeys(), isShared: true), clocks: clocks,
            tally: tally, reopen: reopen, patience: .seconds(300), doubt: CommitDoubt(), head: nil,
            noteHead: { _ in })
    }

    @Test func `a commit whose answer is lost is asked for as long as the server works on it, and found then`() throws {
        let settings = try PostgresCluster.shared().settings(ofDatabaseFor: "write \(UUID().uuidString)")
        let (connection, other) = (try settings.connection(), try settings.connection())
        var impatient = settings
        impatient.limits.lock = .milliseconds(1)
        let (asking, tally) = (impatient, HostTally())
        var looks = 0
        let write = try write(connection, tally: tally) {
            looks += 1
            // Two looks have found it under way: now it goes through.
            if looks == 3 { _ = try other.rows("SELECT pg_advisory_unlock(1)") }
            return try asking.connection()
        }
        // Else the server would undo, within seconds, what a client has begun that is gone.
        _ = try connection.rows("SET client_connection_check_interval = 0")
        _ = try other.rows("SELECT 1 FROM pg_advisory_lock(1)")
        try write.perform { _ in
            // The server comes to the commit behind it when the lock is free, and nobody waits for its answer.
            try connection.queue("SELECT 1 FROM pg_advisory_xact_lock(1)")
            connection.answerTimeout = .zero
        }
        #expect(looks > 2 && tally.figures.commitsInDoubt == 1 && tally.figures.unclearCommits == 0)
    }

    @Test(arguments: [3_600, -3_600] as [Int64])
    func `nothing is written that was judged by a clock that was set since the beginning`(by seconds: Int64) throws {
        let settings = try PostgresCluster.shared().settings(ofDatabaseFor: "write \(UUID().uuidString)")
        let (connection, clock) = (try settings.connection(), SetClock())
        let clocks = ClockGuard(clock)
        let write = try write(connection, clocks: (clocks, clocks.reading())) { try settings.connection() }
        _ = try connection.rows("CREATE TABLE judged (at BIGINT)")
        #expect(throws: ClocksApartError.self) {
            try write.perform { _ in
                clock.set(by: seconds)
                try connection.queue("INSERT INTO judged VALUES (?)", [clock.now])
            }
        }
        #expect(try connection.rows("SELECT at FROM judged").isEmpty)
    }
}

/// The machine's clock until somebody sets it.
private final class SetClock: AgentClock {
    private static let start = ContinuousClock.now
    private let seconds = Mutex<Int64>(0)

    var now: Int64 { Int64(Date.now.timeIntervalSince1970) + seconds.withLock(\.self) }
    var steady: Double { (ContinuousClock.now - Self.start) / .seconds(1) }

    func set(by seconds: Int64) { self.seconds.withLock { $0 = seconds } }

    func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(seconds)) }

    func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm { Alarm {} }
}
#endif
