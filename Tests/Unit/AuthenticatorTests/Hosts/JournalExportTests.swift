#if PostgreSQL
import Keys
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Each chain of the journal is exported by itself, whichever host is asked.
@Suite(.timeLimit(.minutes(20)))
struct JournalExportTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent

    init() async throws { (alpha, beta) = try await SampleAgent.twoHostsThatHaveMet() }

    private func entries(
        after place: String = "0", of host: String? = nil, at asked: SampleAgent? = nil
    ) async throws -> [JournalRow] {
        let cursor = try #require(EventCursor(place))
        return try await (asked ?? alpha).agent.journal.entries(after: cursor, of: host, limit: 1_000)
    }

    @Test func `the chain of any host is given by any other, byte for byte`() async throws {
        for name in ["alpha", "beta"] {
            let chain = try await entries(of: name)
            #expect(chain.map(\.sequence) == Array(1...Int64(chain.count)))
            #expect(JournalEntry(chain[0])?.text("host") == name)
            #expect(try await entries(of: name, at: beta).map(\.bytes) == chain.map(\.bytes))
        }
        #expect(try await entries(at: beta).map(\.bytes) == entries(of: "beta").map(\.bytes))
    }

    @Test func `a place is a number in the chain that is asked for, or has one for it`() async throws {
        for place in ["1", "beta:1", "alpha:3,beta:1"] {
            #expect(try await entries(after: place, of: "beta").first?.sequence == 2, "\(place)")
        }
        #expect(try await entries(after: "alpha:2", of: "beta").first?.sequence == 1)
        #expect(try await entries(after: "alpha:2,beta:1").first?.sequence == 3)
    }

    @Test func `a host that has no chain is refused, also if only the place names it`() async throws {
        for (place, host) in [("0", "gamma"), ("gamma:1", nil), ("beta:1,gamma:1", "alpha"), ("0", "Not a name")] {
            let error = await #expect(throws: CommandError.self) { try await entries(after: place, of: host) }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `each chain has its key`() async throws {
        let chains = try await beta.agent.journal.namedChains()
        #expect(chains.map(\.host) == ["alpha", "beta"])
        #expect(try await chains[0].key?.pem == alpha.agent.journal.publicKeyPEM())
        #expect(try await chains[1].key?.pem == beta.agent.journal.publicKeyPEM())
        try StoreKind.$current.withValue(.postgres) { try alpha.tamper("DELETE FROM audit_key WHERE host = 'alpha'") }
        #expect(try await beta.agent.journal.namedChains()[0].key == nil)
    }

    @Test func `the only chain has no name in a file, and that of its host in PostgreSQL`() async throws {
        for (kind, names) in [(StoreKind.sqlite, []), (.postgres, ["alpha"])] {
            let sample = try StoreKind.$current.withValue(kind) { try SampleAgent() }
            try await sample.agent.prepare()
            #expect(try await sample.agent.journal.namedChains().map(\.host) == names)
            #expect(try await sample.agent.journal.entries(after: EventCursor(1), limit: 1).map(\.sequence) == [2])
        }
    }
}
#endif
