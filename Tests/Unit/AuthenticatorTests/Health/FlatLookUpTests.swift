import GRDB
import IssuerProtocol
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Records

/// What is asked often looks at the rows that it is about, however many enrollments there are.
struct FlatLookUpTests {
    private let sample: SampleAgent
    private let cards: [SampleEnrollment]

    /// With 30 enrollments, of which the first two are in trouble.
    init() async throws {
        sample = try SampleAgent()
        try await sample.agent.prepare()
        var cards: [SampleEnrollment] = []
        for number in 1...30 { cards.append(try await sample.enrolled("\(number)")) }
        self.cards = cards
        try await sample.change(cards[0].id, .suspended)
        sample.agent.health.record(cards[1].id, trouble: "down", at: 0)
    }

    /// How many rows of enrollments the body looks at.
    private func looks(_ body: () async throws -> Void) async throws -> Int {
        let before = sample.seals.looks.value
        try await body()
        return sample.seals.looks.value - before
    }

    @Test func `health looks at those in trouble`() async throws {
        let count = try await looks {
            let troubles = try await sample.agent.troubles()
            #expect(troubles.count { $0.hasPrefix("enrollment") } == 2)
            #expect(troubles.contains { $0.contains("\(cards[0].id)") && $0.hasSuffix("it is suspended") })
        }
        #expect(count == 2)
    }

    @Test func `so do the figures, which count all`() async throws {
        let count = try await looks {
            let holdings = await sample.agent.figures().holdings
            #expect(holdings?.active == 29 && holdings?.suspended == 1 && holdings?.troubled == 2)
            #expect(holdings?.troubles == [.suspended: 1, .issuer: 1])
        }
        #expect(count == 2)
    }

    @Test func `a list looks at no enrollments but those of its requests, and a name at its own`() async throws {
        try await sample.receive(.numbered(1), .numbered(2), for: cards[5])
        try await sample.receive(.numbered(3), for: cards[6])
        let records = try await sample.requests()
        let count = try await looks {
            let found = try await sample.agent.enrollments(of: records)
            #expect(Set(found.keys) == [cards[5].id, cards[6].id])
        }
        #expect(count <= 2)
        for name in ["7", cards[6].id.text] {
            let looks = try await looks {
                let named = try await sample.agent.enrollment(named: name)
                #expect(named.id == cards[6].id)
            }
            #expect(looks <= 1)
        }
    }

    @Test func `one more enrollment looks at its own row`() async throws {
        try await sample.issuer.enrolls()
        let count = try await looks { _ = try await sample.agent.enroll(sample.parameters(), patience: 0) }
        #expect(count < 10)
    }

    @Test func `a damaged row is in trouble once it was read, until it is whole or over`() async throws {
        try sample.tamper("UPDATE enrollment SET rp_id = rp_id || '!' WHERE id = ?", [cards[3].id.text])
        #expect(try await sample.enrollment(cards[3].id).isDamaged)
        #expect(try await sample.agent.troubles().contains { $0.contains("\(cards[3].id)") })
        try sample.tamper("UPDATE enrollment SET rp_id = rtrim(rp_id, '!') WHERE id = ?", [cards[3].id.text])
        #expect(try await !sample.enrollment(cards[3].id).isDamaged)
        #expect(try await !sample.agent.troubles().contains { $0.contains("\(cards[3].id)") })
    }

    @Test func `what is weak is looked at as far as it is listed, and counted`() async throws {
        let count = try await looks {
            let findings = await sample.agent.checkup.findings().filter { $0.weakness == .keyExportable }
            #expect(findings.map(\.enrollment) == cards.prefix(10).map(\.id) + [nil])
            #expect(findings.last?.others == 20)
        }
        #expect(count == 10)
    }

    @Test func `what a damaged row says is not counted among what is weak`() async throws {
        for card in [cards[3], cards[20]] {
            try sample.tamper("UPDATE enrollment SET rp_id = rp_id || '!' WHERE id = ?", [card.id.text])
            #expect(try await sample.enrollment(card.id).isDamaged)
        }
        let findings = await sample.agent.checkup.findings()
        #expect(findings.filter { $0.weakness == .enrollmentDamaged }.map(\.enrollment) == [cards[3].id, cards[20].id])
        let keys = findings.filter { $0.weakness == .keyExportable }
        #expect(keys.map(\.enrollment) == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10].map { cards[$0].id } + [nil])
        #expect(keys.last?.others == 18)
    }

    @Test func `a start looks at few rows before it serves, and then at each once to test its key`() async throws {
        let sample = try sample.restarted()
        try await sample.agent.prepare()
        let before = sample.seals.looks.value
        #expect(before < 10)
        try await sample.running([{ try await sample.agent.keyWatch.run { _ in } }]) {
            while sample.agent.isStarting { await Task.yield() }
        }
        #expect(sample.seals.looks.value - before == cards.count)
    }

    @Test func `pages of enrollments have all of them once, in their order`() async throws {
        var (found, last): ([EnrollmentID], EnrollmentID?) = ([], nil)
        while case let page = try await sample.agent.enrollments(after: last, limit: 7), let end = page.last {
            #expect(page.count == 7 || page.count == 2)
            found += page.map(\.id)
            last = end.id
        }
        #expect(found == cards.map(\.id))
        await #expect(throws: CommandError.self) {
            try await sample.agent.enrollments(after: EnrollmentID("00000000000000000000"), limit: 7)
        }
    }
}
