#if PostgreSQL
import Authenticator
import Foundation
import StoreTables
import TestStores
import Testing

@testable import PostgresStore

/// A database transaction that writes.
@Suite(.timeLimit(.minutes(20)))
struct PostgresWriteTests {
    @Test func `a commit whose answer is lost is asked for as long as the server works on it, and found then`() throws {
        let settings = try PostgresCluster.shared().settings(ofDatabaseFor: "write \(UUID().uuidString)")
        let (connection, other) = (try settings.connection(), try settings.connection())
        let host = PostgresHost(name: try #require(HostName("alpha")), identity: [1])
        try PostgresSchema.prepare(connection, for: host.name)
        let incarnation = try host.claim(connection, seals: [], opens: [])
        // Else the server would undo, within seconds, what a client has begun that is gone.
        _ = try connection.rows("SET client_connection_check_interval = 0")
        _ = try other.rows("SELECT 1 FROM pg_advisory_lock(1)")
        var impatient = settings
        impatient.limits.lock = .milliseconds(1)
        let (asking, tally) = (impatient, HostTally())
        var looks = 0
        let write = PostgresWrite(
            connection: connection, host: host.name, incarnation: incarnation,
            sealing: Sealing(seals: NoRowSeals(), dataKeys: UnsealedDataKeys(), isShared: true),
            clocks: (ClockGuard(nil), nil), tally: tally,
            reopen: {
                looks += 1
                // Two looks have found it under way: now it goes through.
                if looks == 3 { _ = try other.rows("SELECT pg_advisory_unlock(1)") }
                return try asking.connection()
            }, patience: .seconds(300), doubt: CommitDoubt(), head: nil, noteHead: { _ in })
        try write.run { _ in
            // The server comes to the commit behind it when the lock is free, and nobody waits for its answer.
            try connection.queue("SELECT 1 FROM pg_advisory_xact_lock(1)")
            connection.answerTimeout = .zero
        }
        #expect(looks > 2 && tally.figures.commitsInDoubt == 1 && tally.figures.unclearCommits == 0)
    }
}
#endif
