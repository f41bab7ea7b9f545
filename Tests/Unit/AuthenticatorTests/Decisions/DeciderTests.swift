import IssuerProtocol
import Keys
import TestStores
import Testing
import ThreeDS
import WebAuthn

@testable import Authenticator
@testable import Records

/// A request is decided once, and the decision is durable before anyone is told.
@Suite(.timeLimit(.minutes(20)))
struct DeciderTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test func `if the commit fails nothing was decided, nothing is queued and nobody is told`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        for decision in [RequestLife.Decision.approve, .deny(.userDenied)] {
            sample.store.breakWrites()
            let events = try await sample.events {
                await #expect(throws: StoreError.self) { try await sample.decide(decision, id) }
            }
            sample.store.breakWrites(false)
            #expect(events.isEmpty)
            #expect(try await sample.request(id).life == .pending)
            #expect(try await sample.outbox(of: card).isEmpty)
            #expect(try await sample.enrollment(card.id).signCount == 0)
        }
        #expect(await sample.issuer.decisions.isEmpty)
        #expect(try await sample.approve(id).life.state == .approved)
    }

    @Test func `if the key fails nothing was decided`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        sample.custody.beforeSigning { throw SampleError("the token was pulled out") }
        await #expect(throws: SampleError.self) { try await sample.approve(id) }
        sample.custody.beforeSigning(nil)
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
        #expect(try await sample.approve(id).life.state == .approved)
    }

    @Test func `an agent with another secret signs nothing`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let stranger = try sample.restarted(secret: AgentSecret.generate())
        let id = try await sample.onlyRequest().id
        // It cannot even read what it would sign.
        let refusal = await #expect(throws: CommandError.self) { try await stranger.approve(id) }
        #expect(refusal?.code == .noLongerDecidable)
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `signCounts of many approvals at once rise one by one and enter the outbox in their order`()
        async throws
    {
        let card = try await sample.enrolled()
        for number in 1...40 { try await sample.receive(.numbered(number), for: card) }
        let ids = try await sample.requests().map(\.id)
        let signatures = Box(0)
        sample.custody.beforeSigning { _ = signatures.next() }
        try await withThrowingTaskGroup { group in
            for id in ids { group.addTask { try await sample.approve(id) } }
            try await group.waitForAll()
        }
        #expect(signatures.value == 40, "no number was taken twice, so no signature was thrown away")
        let outbox = try await sample.outbox(of: card)
        #expect(outbox.map(\.signCount) == (1...40).map { UInt32($0) })
        let signed = try outbox.map { try AuthenticatorData.parse($0.assertion.authenticatorData).signCount }
        #expect(signed == Array(1...40))
        #expect(try await sample.enrollment(card.id).signCount == 40)
    }

    @Test func `of approvals of one request at once one signs, and for the others no key is opened`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        let signatures = Box(0)
        sample.custody.beforeSigning { _ = signatures.next() }
        let approved = await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { [sample] in (try? await sample.approve(id)) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(approved == 1)
        #expect(signatures.value == 1)
    }

    @Test(
        .ofSQLite,
        arguments: [
            (RequestLife.Decision.approve, AuthnType.presence, 2), (.deny(.userDenied), .presence, 1),
            (.approve, .pin, 3), (.deny(.userDenied), .pin, 1),
        ])
    func `a decision reads its enrollment's row once in each of its looks, tries of a PIN and database transactions`(
        decision: RequestLife.Decision, authnType: AuthnType, reads: Int
    ) async throws {
        let pin = authnType == .pin ? try PIN.right : nil
        let card = try await sample.enrolled(authnType: authnType, pin: pin)
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        // At the first approval its issuer is asked for the signCount.
        try await sample.approve(ids[0], pin: pin)
        let before = sample.seals.reads.value
        try await sample.decide(decision, ids[1], pin: decision == .approve ? pin : nil)
        #expect(sample.seals.reads.value - before == reads)
    }

    @Test func `signCounts go on after a restart and differ between enrollments`() async throws {
        let card = try await sample.enrolled("card")
        let other = try await sample.enrolled("other")
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try await sample.receive(.numbered(1), for: other)
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        let later = try sample.restarted()
        try await later.approve(ids[1])
        try await later.approve(ids[2])
        #expect(try await later.outbox(of: card).map(\.signCount) == [1, 2])
        #expect(try await later.outbox(of: other).map(\.signCount) == [1])
    }

    @Test func `a slow key of one enrollment holds no other one up`() async throws {
        let slow = try await sample.enrolled("slow")
        let fast = try await sample.enrolled("fast")
        try await sample.receive(.numbered(1), for: slow)
        try await sample.receive(.numbered(2), for: fast)
        let ids = try await sample.requests().map(\.id)
        let (isAtWork, mayGoOn) = (Channel<Void>(), Channel<Void>())
        sample.custody.beforeSigning {
            isAtWork.send(())
            try await mayGoOn.next()
        }
        async let slowOne = sample.approve(ids[0])
        try await isAtWork.next()
        sample.custody.beforeSigning(nil)
        try await sample.approve(ids[1])
        #expect(try await sample.request(ids[0]).life == .pending)
        mayGoOn.send(())
        #expect(try await slowOne.life.state == .approved)
    }

    @Test(
        arguments: [
            [.approve, .approve], [.approve, .deny(.userDenied)], [.deny(.userDenied), .deny(.suspectedFraud)],
        ] as [[RequestLife.Decision]])
    func `of two decisions at once on one request one wins and the other is too late`(
        decisions: [RequestLife.Decision]
    ) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        async let one = failureCode { try await sample.decide(decisions[0], id) }
        async let other = failureCode { try await sample.decide(decisions[1], id) }
        let codes = try await [one, other]
        #expect(codes.count { $0 == nil } == 1 && codes.contains(.noLongerDecidable))
        #expect(try await sample.outbox(of: card).count == 1)
    }

    @Test func `who is too late is told what became of the request`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        try await sample.decide(.deny(.userDenied), id)
        let failure = try await #require(throws: CommandError.self) { try await sample.approve(id) }
        #expect(failure.message.contains("was denied already"))
        #expect(failure.request?.life.state == .denied(.userDenied))
    }

    @Test func `a broken expectation leaves the request pending and nothing changed`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        let broken = [
            Expectations(amount: try ExpectedAmount("USD 1.01")), Expectations(amount: try ExpectedAmount("EUR 1.00")),
            Expectations(merchantName: "CoffeeHouse2"),
            Expectations(acsTransId: ACSTransactionID("2f37539c-d82e-4929-88db-2f9e72c7fa63")),
        ]
        for expectations in broken {
            for decision in [RequestLife.Decision.approve, .deny(.userDenied)] {
                let code = try await failureCode { try await sample.decide(decision, id, expecting: expectations) }
                #expect(code == .expectationFailed)
            }
        }
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
        let all = Expectations(
            amount: try ExpectedAmount("USD 1.00"), merchantName: "CoffeeHouse2 (Dæmø)",
            acsTransId: ACSTransactionID("2F37539C-D82E-4929-88DB-2F9E72C7FA62"))
        try await sample.decide(.approve, id, expecting: all)
    }

    @Test(arguments: [RequestLife.Decision.approve, .deny(.userDenied)])
    func `who has shown a text decides about no other`(decision: RequestLife.Decision) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let first = try await sample.onlyRequest()
        let shown = try #require(try await sample.agent.text(of: first)).digest
        // The same transaction under a newer message that expires later: the text says so.
        try await sample.receive(SampleRequest(jti: "request-2", iat: 1, exp: 900), for: card)
        let code = try await failureCode {
            try await sample.decide(decision, first.id, expecting: Expectations(textDigest: shown), shown: shown)
        }
        #expect(code == .expectationFailed)
        #expect(try await sample.request(first.id).life == .pending)
        let newer = try #require(try await sample.agent.text(of: try await sample.onlyRequest())).digest
        try await sample.decide(decision, first.id, expecting: Expectations(textDigest: newer), shown: newer)
    }

    @Test func `an expected merchant's name is compared byte for byte, and another spelling is said`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(merchantName: "Caf\u{E9}"), for: card)
        let id = try await sample.onlyRequest().id
        let equivalent = Expectations(merchantName: "Cafe\u{301}")
        let failure = try await #require(throws: CommandError.self) {
            try await sample.decide(.approve, id, expecting: equivalent)
        }
        #expect(failure.code == .expectationFailed)
        #expect(failure.message.contains("in another Unicode form of the same letters"))
    }

    @Test func `from the second of its exp on nothing can be decided`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        sample.clock.advance(by: 600)
        #expect(try await failureCode { try await sample.approve(id) } == .noLongerDecidable)
        #expect(try await failureCode { try await sample.decide(.deny(.userDenied), id) } == .noLongerDecidable)
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `a suspended or ended enrollment decides nothing`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        try await sample.change(card.id, .suspended)
        #expect(try await failureCode { try await sample.approve(id) } == .notEnrolled)
        #expect(try await failureCode { try await sample.decide(.deny(.userDenied), id) } == .notEnrolled)
        try await sample.change(card.id, .ended(at: sample.now))
        #expect(try await failureCode { try await sample.approve(id) } == .notEnrolled)
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
    }
}
