import IssuerProtocol
import Keys
import StoreTables
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// An older row of an enrollment that is put back while an agent runs: nothing of it is used in what is written.
struct RowVersionTests {
    private let sample: SampleAgent
    private let card: SampleEnrollment
    private let request: RequestID

    init() async throws {
        sample = try SampleAgent()
        try await sample.agent.prepare()
        card = try await sample.enrolled(authnType: .pin, pin: .right)
        try await sample.receive(.numbered(1), for: card)
        request = try await sample.onlyRequest().id
    }

    private func approve(_ pin: PIN, on agent: SampleAgent? = nil) async throws -> CommandError.Code? {
        try await failureCode { try await (agent ?? sample).approve(request, pin: pin) }
    }

    @Test func `a count that is set back gives no further try, and the right PIN approves nothing`() async throws {
        #expect(try await approve(.wrong) == .userNotVerified)
        let putBack = try sample.keptRow(of: card.id)
        #expect(try await approve(.wrong) == .userNotVerified)
        for _ in 1...3 {
            try putBack()
            #expect(try await approve(.right) == .keyUnavailable)
        }
        #expect(try await sample.request(request).life.state == .pending)
    }

    @Test func `an ended enrollment whose row is put back approves nothing`() async throws {
        let putBack = try sample.keptRow(of: card.id)
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true, erasing: false)
        try putBack()
        #expect(try await approve(.right) != nil)
        #expect(try await sample.outbox(of: card).isEmpty)
        // Its request has ended; of another one nothing would be used either.
        #expect(try await sample.store.write { try $0.enrollment(card.id) }?.isDamaged == true)
    }

    @Test func `an old PIN whose row is put back approves nothing`() async throws {
        let putBack = try sample.keptRow(of: card.id)
        _ = try await sample.agent.changePIN(of: card.id, from: .right, to: .other)
        try putBack()
        #expect(try await approve(.right) == .keyUnavailable)
        #expect(try await sample.request(request).life.state == .pending)
    }

    @Test func `a row says how often it was written, and how often its count fell`() async throws {
        let before = try await sample.enrollment(card.id)
        #expect(try await approve(.wrong) == .userNotVerified)
        #expect(try await approve(.right) == nil)
        let after = try await sample.enrollment(card.id)
        #expect(after.version > before.version + 1 && after.pinEpoch == before.pinEpoch + 1)
    }
}

#if PostgreSQL
/// The same on several hosts, of which each knows what it has written itself.
@Suite(.timeLimit(.minutes(20)))
struct RowVersionOfHostsTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent

    init() throws { (alpha, beta) = try SampleAgent.twoHosts() }

    private func keptRow(of id: EnrollmentID) throws -> @Sendable () throws -> Void {
        let putBack = try StoreKind.$current.withValue(.postgres) { try alpha.keptRow(of: id) }
        return { try StoreKind.$current.withValue(.postgres) { try putBack() } }
    }

    private func waiting() async throws -> (card: SampleEnrollment, request: RequestID) {
        let card = try await alpha.enrolled(authnType: .pin, pin: .right)
        try await alpha.receive(.numbered(1), for: card)
        return (card, try await alpha.onlyRequest().id)
    }

    @Test func `the right PIN on another host clears the count, and the first host goes on`() async throws {
        let (card, request) = try await waiting()
        for _ in 1...4 { #expect(try await failureCode { try await alpha.approve(request, pin: .wrong) } != nil) }
        try await beta.approve(request, pin: .right)
        try await alpha.receive(.numbered(2), for: card)
        let next = try #require(try await alpha.requests().first { $0.life.state == .pending }).id
        #expect(try await failureCode { try await alpha.approve(next, pin: .wrong) } == .userNotVerified)
        try await alpha.approve(next, pin: .right)
    }

    @Test func `a count that another host has written on after it was set back is refused by who counted`()
        async throws
    {
        let (card, request) = try await waiting()
        let putBack = try keptRow(of: card.id)
        for _ in 1...3 { #expect(try await failureCode { try await alpha.approve(request, pin: .wrong) } != nil) }
        try putBack()
        // Beta, which does not know, makes more versions of it than alpha has seen.
        for _ in 1...6 {
            try await beta.agent.journal.store.write { store in
                _ = try store.change(card.id, .suspended)
                _ = try store.change(card.id, .resumed)
            }
        }
        #expect(try await failureCode { try await alpha.approve(request, pin: .right) } == .keyUnavailable)
        #expect(try await alpha.request(request).life.state == .pending)
    }
}
#endif
