import IssuerProtocol
import ScratchDirectories
import Testing

@testable import Authenticator
@testable import Records

/// How an enrollment ends.
@Suite(.timeLimit(.minutes(20)))
struct UnenrollerTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func unenroll(_ card: SampleEnrollment, locally: Bool = false, forced: Bool = false) async throws -> Bool {
        try await sample.agent.unenroll(card.id, locally: locally, forced: forced).wasEnrolled
    }

    @Test func `the issuer is told, the key goes, and a second time nothing happens`() async throws {
        let card = try await sample.enrolled()
        #expect(try await unenroll(card))
        #expect(try await sample.enrollment(card.id).sealedKey == nil)
        guard case .ended(let id) = try await sample.enrollment(card.id).state else {
            throw SampleError("not ended")
        }
        #expect(id == card.enrollment.membership?.authenticatorId)
        #expect(try await !unenroll(card))
        #expect(await sample.issuer.unenrollments == [card.token])
        #expect(try await sample.agent.enrollments().isEmpty)
    }

    @Test(arguments: [.invalidToken, .unknownAuthenticator] as [ProblemCode])
    func `if there is no enrollment any more it has succeeded all the same`(code: ProblemCode) async throws {
        let card = try await sample.enrolled()
        await sample.issuer.onUnenrollment { () throws(IssuerError) in throw .problem(code) }
        #expect(try await unenroll(card))
        #expect(try await sample.enrollment(card.id).sealedKey == nil)
    }

    @Test(arguments: [.down, .problem(.invalidRequest)] as [IssuerError])
    func `if the issuer cannot be told nothing is changed`(failure: IssuerError) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        await sample.issuer.onUnenrollment { () throws(IssuerError) in throw failure }
        #expect(try await failureCode { _ = try await unenroll(card) } == .issuerUnreachable)
        guard case .active = try await sample.enrollment(card.id).state else { throw SampleError("not active") }
        #expect(try await sample.enrollment(card.id).sealedKey != nil)
        try await sample.approve(sample.onlyRequest().id)
    }

    @Test func `locally it ends without a word to the issuer`() async throws {
        let card = try await sample.enrolled()
        #expect(try await unenroll(card, locally: true))
        #expect(await sample.issuer.unenrollments.isEmpty)
        #expect(try await sample.enrollment(card.id).sealedKey == nil)
    }

    @Test func `pending requests are closed and can no longer be decided`() async throws {
        let card = try await sample.enrolled("card")
        let other = try await sample.enrolled("other")
        for number in 1...3 { try await sample.receive(.numbered(number), for: card) }
        try await sample.receive(.numbered(4), for: other)
        #expect(try await unenroll(card))
        let records = try await sample.requests()
        #expect(records.map(\.life) == [.cancelled, .cancelled, .cancelled, .pending])
        #expect(try await failureCode { try await sample.approve(records[0].id) } == .noLongerDecidable)
        try await sample.approve(records[3].id)
    }

    @Test func `decisions that wait go out first`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        try await sample.decide(.deny(.userDenied), ids[1])
        let gate = Channel<TransStatus>()
        await sample.issuer.onDecision { (_) throws(IssuerError) in try await gate.answer() }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            async let isEnded = unenroll(card)
            try await sample.clock.sleepers()
            #expect(await sample.issuer.unenrollments.isEmpty)
            gate.send(.authenticated)
            gate.send(.authenticated)
            #expect(try await isEnded)
        }
        #expect(await sample.issuer.decisions.count == 2)
        #expect(try await sample.request(ids[0]).life.delivery == .delivered(.authenticated))
    }

    @Test func `the answer to a duplicate, which is no request's own, goes out first too`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        try await sample.decide(.deny(.userDenied), sample.onlyRequest().id)
        try await sample.deliverAll()
        let again = SampleRequest(jti: "again", iat: 1, acsTransId: SampleRequest.numbered(1).acsTransId)
        try await sample.receive(again, for: card)
        let gate = Channel<TransStatus>()
        await sample.issuer.onDecision { (_) throws(IssuerError) in try await gate.answer() }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            async let isEnded = unenroll(card)
            try await sample.clock.sleepers()
            #expect(await sample.issuer.unenrollments.isEmpty)
            gate.send(.notAuthenticated)
            #expect(try await isEnded)
        }
        #expect(await sample.issuer.decisions.map(\.jti) == ["request-1", "again"])
    }

    @Test(arguments: [false, true])
    func `if they do not go out in time nothing is changed, unless it is forced`(locally: Bool) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        try await sample.approve(id)
        async let code = failureCode { _ = try await unenroll(card, locally: locally) }
        try await sample.clock.sleepers()
        sample.clock.advance(by: 30)
        #expect(try await code == .failed)
        #expect(await sample.issuer.unenrollments.isEmpty)
        #expect(try await sample.outbox(of: card).count == 1)
        #expect(try await unenroll(card, locally: locally, forced: true))
        #expect(try await sample.outbox(of: card).isEmpty)
        let expected = RequestLife(state: .approved, delivery: .failed(token: "unenrolled"))
        #expect(try await sample.request(id).life == expected)
    }

    @Test func `two at once end it once`() async throws {
        let card = try await sample.enrolled()
        async let one = unenroll(card)
        async let other = unenroll(card)
        _ = try await (one, other)
        guard case .ended(let id) = try await sample.enrollment(card.id).state else {
            throw SampleError("not ended")
        }
        #expect(id == card.enrollment.membership?.authenticatorId)
    }

    @Test func `an enrollment that is not there is not found`() async throws {
        let id = try EnrollmentID(random: sample.ports.entropy)
        let code = try await failureCode {
            _ = try await sample.agent.unenroll(id, locally: false, forced: false)
        }
        #expect(code == .notFound)
    }
}
