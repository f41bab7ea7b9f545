import IssuerProtocol
import Logging
import ScratchDirectories
import StoreTables
import StrictJSON
import TestStores
import Testing

@testable import Authenticator
@testable import Records

/// An issuer cannot fill the disk that all issuers share.
@Suite(.timeLimit(.minutes(20)))
struct StoredBytesTests {
    private let log = WrittenLog()

    private func sample(_ change: (inout AgentBounds) -> Void) throws -> SampleAgent {
        try SampleAgent(AgentSettings(bounds: AgentBounds(change), version: "1")).restarted(log: log.logger)
    }

    private func tally(_ sample: SampleAgent, _ card: SampleEnrollment) async throws -> StoredTally {
        try await sample.store.real.read { try $0.storedTally(of: card.id, since: 0, until: .max) }
    }

    /// Receives requests until one is not presented.
    ///
    /// - Returns: how many were presented.
    private func fill(_ sample: SampleAgent, _ card: SampleEnrollment, from first: Int = 1) async throws -> Int {
        for number in first..<first + 100 {
            try await sample.receive(.numbered(number), for: card)
            if try await sample.requests().last?.life != .pending { return number - first }
        }
        throw SampleError("it never fills")
    }

    private static let refused = RequestLife.refused(token: "tooManyBytes", reason: .policy)

    @Test func `past an enrollment's bytes a newcomer is refused as policy, and only its digest is kept`() async throws
    {
        let sample = try sample { $0.storedBytesOfEnrollment = 20_000 }
        let (card, other) = (try await sample.enrolled("card"), try await sample.enrolled("other"))
        let count = try await fill(sample, card)
        #expect(count > 1)
        let last = try #require(try await sample.requests().last)
        #expect(last.life == Self.refused && last.message.isEmpty)
        #expect(try await sample.outbox(of: card).map(\.body) == [DecisionBody.deny(.policy)])
        // It is known by its digest, so nothing comes of the same message.
        let again = try await sample.recorded { try await sample.receive(.numbered(count + 1), for: card) }
        #expect(again.isEmpty)
        try await sample.receive(.numbered(50), for: other)
        #expect(try await sample.requests().last?.life == .pending)
    }

    @Test func `past an issuer's bytes all its newcomers are refused, and another issuer's are presented`() async throws
    {
        let sample = try sample { $0.storedBytes = 20_000 }
        let elsewhere = IssuerTarget(issuer: try IssuerURL("https://other.example"), rootsPEM: nil)
        let (card, second) = (try await sample.enrolled("card"), try await sample.enrolled("second"))
        let other = try await sample.enrolled("other", target: elsewhere)
        _ = try await fill(sample, card)
        try await sample.receive(.numbered(50), for: second)
        #expect(try await sample.requests().last?.life == Self.refused)
        try await sample.receive(.numbered(51), for: other)
        #expect(try await sample.requests().last?.life == .pending)
        let pending = try #require(try await sample.requests().first)
        #expect(try await sample.approve(pending.id).life.state == .approved)
    }

    @Test func `refusals have an eighth more, and then nothing is kept or answered`() async throws {
        let sample = try sample { $0.storedBytes = 80_000 }
        let card = try await sample.enrolled()
        var messages = try await fill(sample, card) + 1
        while try await sample.recorded({ try await sample.receive(.numbered(messages + 1), for: card) }) != [] {
            messages += 1
            #expect(messages < 40)
        }
        let tally = try await tally(sample, card)
        #expect(tally.messages == messages && tally.bytesOfIssuer < 90_000 + 4_096)
        #expect(await sample.agent.figures().drops == [.noRoom: 1])
        #expect(
            log.lines(.warning) == [
                "no more may be stored for this issuer or enrollment; a message was dropped"
            ])
        // What is shown can still be taken back.
        try await sample.receive(SampleCancellation(cancels: "request-1"), for: card)
        #expect(try await sample.requests().first?.life == .cancelled)
    }

    @Test func `status says so with the reason issuer until a newcomer is presented again`() async throws {
        let sample = try sample { $0.storedBytes = 20_000 }
        let (card, other) = (try await sample.enrolled("card"), try await sample.enrolled("other"))
        let count = try await fill(sample, card)
        let trouble = try #require(try await sample.agent.troubles().first)
        #expect(trouble.contains("max-stored-bytes"))
        #expect(await sample.agent.figures().notReady[.issuer] == 1)
        for request in try await sample.requests().prefix(count) {
            try await sample.decide(.deny(.userDenied), request.id)
        }
        try await erase(sample, card)
        _ = try await sample.store.real.write { try $0.removeWhatWasOver(before: .max, limit: 100) }
        #expect(try await sample.agent.troubles() == [trouble])
        try await sample.receive(.numbered(60), for: other)
        #expect(try await sample.agent.troubles() == [trouble], "another enrollment says nothing of this one")
        try await sample.receive(.numbered(61), for: card)
        #expect(try await sample.requests().last?.life == .pending)
        #expect(try await sample.agent.troubles().isEmpty)
    }

    /// Takes all away that is kept of an enrollment's requests, delivered or not.
    private func erase(_ sample: SampleAgent, _ card: SampleEnrollment) async throws {
        let id = card.id
        try await sample.store.real.write { store in
            for entry in try store.outbox(enrollment: id) {
                try store.endDelivery(of: entry, as: .failed(token: "x"), error: nil)
            }
            _ = try store.eraseRequests(of: id, after: nil, limit: 100)
        }
    }

    /// What the rows say, which the tally has to say as well.
    private func counted(_ sample: SampleAgent, _ card: SampleEnrollment) throws -> Int64 {
        let ofCard = "WHERE enrollment_id = '\(card.id)'"
        let path = "\(sample.directory.path)/store.sqlite"
        let requests =
            try number(in: path, "SELECT CAST(COALESCE(SUM(counted_bytes), 0) AS BIGINT) FROM request \(ofCard)") ?? -1
        return requests + 1_024 * (try number(in: path, "SELECT COUNT(*) FROM message \(ofCard)") ?? -1)
    }

    private func expectRight(_ sample: SampleAgent, _ card: SampleEnrollment, _ other: SampleEnrollment) async throws {
        let (own, others) = (Int(try counted(sample, card)), Int(try counted(sample, other)))
        #expect(try await tally(sample, card).bytes == own)
        #expect(try await tally(sample, card).bytesOfIssuer == own + others)
    }

    @Test func `the count is that of the rows after admission, supersession, erasure, retention and a restart`()
        async throws
    {
        var sample = try sample { _ in }
        let (card, other) = (try await sample.enrolled("card"), try await sample.enrolled("other"))
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try await sample.receive(.numbered(3), for: other)
        try await expectRight(sample, card, other)
        var newer = SampleRequest.numbered(1).early(5)
        (newer.jti, newer.merchantName) = ("newer", SampleRequest().merchantName)
        try await sample.receive(newer, for: card)
        try await sample.receive(SampleCancellation(cancels: "request-2"), for: card)
        try await sample.approve(try #require(try await sample.requests().first).id)
        try await expectRight(sample, card, other)
        let before = try await tally(sample, card).bytes
        sample = try sample.restarted()
        try await erase(sample, card)
        try await expectRight(sample, card, other)
        #expect(try await tally(sample, card).bytes < before)
        _ = try await sample.store.real.write { try $0.removeWhatWasOver(before: .max, limit: 100) }
        try await expectRight(sample, card, other)
        #expect(try await tally(sample, card).bytes == 0)
        #expect(try await tally(sample, card).bytesOfIssuer > 0)
    }

    @Test func `what was never shown keeps its digest only after a day, and what was shown stays`() async throws {
        let sample = try sample { $0.undecided = 1 }
        let card = try await sample.enrolled()
        var late = SampleRequest.numbered(2)
        (late.iat, late.exp) = (-20, -10)
        try await sample.receive(SampleCancellation(cancels: "request-3"), for: card)
        try await sample.receive(.numbered(1), late, .numbered(3), .numbered(4), for: card)
        #expect(
            try await sample.requests().map(\.life) == [
                .pending, .expired, .cancelled, .refused(token: "tooManyUndecided", reason: .policy),
            ])
        try await sample.decide(.deny(.userDenied), try #require(try await sample.requests().first).id)
        let messages = try await tally(sample, card).messages
        sample.clock.advance(by: 86_400)
        try await sample.running([sample.agent.dataRetention.run]) { try await sample.clock.sleepers() }
        #expect(try await sample.requests().count == 4)
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.eventually { try $0.outboxCount(enrollment: nil) == 0 ? () : nil }
        }
        sample.clock.advance(by: 601)
        try await sample.running([sample.agent.dataRetention.run]) { try await sample.clock.sleepers() }
        #expect(try await sample.requests().map(\.jti.text) == ["request-1"])
        #expect(try await tally(sample, card).messages == messages)
        let again = try await sample.recorded { try await sample.receive(late, .numbered(3), .numbered(4), for: card) }
        #expect(again.isEmpty)
        #expect(try await sample.requests().count == 1)
    }

    /// Covers both kinds of requests: presented ones, and refused ones, of which less is kept.
    @Test(.ofSQLite, arguments: [(10, 50), (8_000, 50), (8_000, 150)])
    func `the database grows by no more than is counted`(length: Int, presented: Int) async throws {
        let sample = try sample { $0.undecided = presented }
        let card = try await sample.enrolled()
        func size() throws -> Int64 {
            let path = "\(sample.directory.path)/store.sqlite"
            return try number(in: path, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
                ?? -1
        }
        let (before, counted) = (try size(), try await tally(sample, card).bytes)
        for number in 1...150 {
            var request = SampleRequest.numbered(number)
            request.claims = ["more": .string(String(repeating: "m", count: length))]
            try await sample.receive(request, for: card)
        }
        let pending = try await sample.requests().filter { $0.life == .pending }
        #expect(pending.count == presented)
        for request in pending { try await sample.approve(request.id) }
        let (grown, more) = (try size() - before, try await tally(sample, card).bytes - counted)
        #expect(grown < more && more < 3 * grown, "grew by \(grown), counted \(more)")
    }
}
