#if PostgreSQL
import IssuerProtocol
import Keys
import StoreTables
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// The same on several hosts, each of which has a sum of its own.
@Suite(.timeLimit(.minutes(20)))
struct RowSumOfHostsTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent

    init() async throws { (alpha, beta) = try await SampleAgent.twoHostsThatHaveMet() }

    private func isInDoubt(_ agent: SampleAgent) async throws -> Bool {
        try await agent.agent.rowWatch.look()
        return await agent.agent.figures().notReady[.rowsChanged] == 1
    }

    @Test func `what either host does agrees with the rows, also while both write`() async throws {
        let card = try await alpha.enrolled(authnType: .pin, pin: .right)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (host, number) in [(alpha, 1), (beta, 2)] {
                group.addTask {
                    for each in 0..<5 {
                        _ = try await host.enrolled("card-\(number)-\(each)")
                        try await host.change(card.id, .rowResealed)
                        try await host.agent.rowWatch.look()
                    }
                }
            }
            try await group.waitForAll()
        }
        for host in [alpha, beta] { #expect(try await !isInDoubt(host)) }
        #expect(try await beta.agent.journal.verify().fault == nil)
    }

    @Test func `a row that is put back for another host is found by its next look`() async throws {
        let card = try await alpha.enrolled(authnType: .pin, pin: .right)
        try await alpha.receive(.numbered(1), for: card)
        let putBack = try StoreKind.$current.withValue(.postgres) { try alpha.keptRow(of: card.id) }
        try await alpha.change(card.id, .suspended)
        try StoreKind.$current.withValue(.postgres) { try putBack() }
        for host in [beta, alpha] { #expect(try await isInDoubt(host)) }
        let request = try await beta.onlyRequest().id
        #expect(try await failureCode { try await beta.approve(request, pin: .right) } == .keyUnavailable)
    }

    @Test func `a chain that has become shorter since the last look is found, with its sum and its rows`() async throws
    {
        let card = try await beta.enrolled(authnType: .pin, pin: .right)
        let mark = try #require(try await beta.store.real.read { try $0.journalMark(.head) })
        let putBack = try StoreKind.$current.withValue(.postgres) { try alpha.keptRow(of: card.id) }
        try await beta.change(card.id, .suspended)
        try await beta.agent.conclude()
        #expect(try await !isInDoubt(alpha))
        try await alpha.agent.hostWitness.look()
        try StoreKind.$current.withValue(.postgres) {
            try putBack()
            try alpha.tamper("DELETE FROM journal WHERE host = 'beta' AND seq > ?", [mark.point.sequence])
            try alpha.tamper(
                "UPDATE journal_mark SET seq = ?, digest = ?, signature = ?, rows = ? WHERE host = 'beta'",
                [mark.point.sequence, mark.point.digest, mark.signature, mark.rows])
        }
        #expect(try await isInDoubt(alpha))
        // And by another process, as the journal of alpha says how far that chain went.
        let again = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("alpha") }
        try await again.agent.prepare()
        #expect(try await isInDoubt(again))
        // A person may know why, such as a host that was set up anew.
        let accepting = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("alpha") }
        #expect(try await accepting.agent.acceptHead()?.contains("of host beta ends with entry") == true)
        let after = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("alpha") }
        try await after.agent.prepare()
        #expect(try await !isInDoubt(after))
    }

    @Test func `a host that is silent is vouched for by the one on which a person has looked`() async throws {
        _ = try await beta.enrolled("of-beta")
        try await beta.agent.conclude()
        try StoreKind.$current.withValue(.postgres) {
            try alpha.tamper("UPDATE journal_mark SET rows = NULL WHERE host = 'beta'")
        }
        #expect(try await isInDoubt(alpha))
        let again = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("alpha") }
        #expect(try await again.agent.acceptHead()?.contains("of host beta") == true)
        for name in ["alpha", "beta"] {
            let host = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour(name) }
            try await host.agent.prepare()
            #expect(try await !isInDoubt(host))
        }
    }
}
#endif
