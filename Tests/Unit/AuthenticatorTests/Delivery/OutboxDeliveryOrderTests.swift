import IssuerProtocol
import StoreTables
import Testing

@testable import Authenticator
@testable import Records

/// Approvals go in the order of their signCounts, and hold nobody else up.
@Suite(.timeLimit(.minutes(20)))
struct OutboxDeliveryOrderTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test func `approvals of a credential go one at a time in the order of their signCounts`() async throws {
        let card = try await sample.enrolled()
        for number in 1...10 { try await sample.receive(.numbered(number), for: card) }
        let ids = try await sample.requests().map(\.id)
        try await withThrowingTaskGroup { group in
            for id in ids.shuffled() { group.addTask { try await sample.approve(id) } }
            try await group.waitForAll()
        }
        let atOnce = Box(0)
        let limit = Box(0)
        await sample.issuer.onDecision { (decision) throws(IssuerError) in
            let now = atOnce.next()
            limit.change { $0 = max($0, now) }
            await Task.yield()
            atOnce.change { $0 -= 1 }
            return .authenticated
        }
        let order = try await sample.outbox(of: card).sorted { ($0.signCount ?? 0) < ($1.signCount ?? 0) }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.eventually { try $0.outboxCount(enrollment: nil) == 0 ? true : nil }
        }
        #expect(await sample.issuer.decisions.map(\.jti) == order.map(\.jti.text))
        #expect(limit.value == 1)
    }

    @Test func `an approval that cannot be delivered holds the next one up, but no denial`() async throws {
        let card = try await sample.enrolled()
        for number in 1...3 { try await sample.receive(.numbered(number), for: card) }
        let ids = try await sample.requests().map(\.id)
        try await sample.approve(ids[0])
        try await sample.approve(ids[1])
        let gate = Channel<Void>()
        await sample.issuer.onDecision { (decision) throws(IssuerError) in
            guard decision.jti == "request-1" else { return .notAuthenticated }
            try await gate.answer()
            return .authenticated
        }
        try await sample.running([sample.agent.outboxDelivery.run]) {
            #expect(try await sample.issuer.decided.next().jti == "request-1")
            try await sample.decide(.deny(.userDenied), ids[2])
            #expect(try await sample.issuer.decided.next().jti == "request-3")
            gate.send(())
            #expect(try await sample.issuer.decided.next().jti == "request-2")
        }
    }

    @Test func `one slow issuer or card never holds another`() async throws {
        let slow = try await sample.enrolled("slow")
        let fast = try await sample.enrolled("fast")
        try await sample.receive(.numbered(1), for: slow)
        try await sample.receive(.numbered(2), for: fast)
        let ids = try await sample.requests().map(\.id)
        await sample.issuer.onDecision { (decision) throws(IssuerError) in
            guard decision.token == fast.token else { throw await .waitingWasCancelled }
            return .authenticated
        }
        try await sample.approve(ids[0])
        try await sample.running([sample.agent.outboxDelivery.run]) {
            #expect(try await sample.issuer.decided.next().token == slow.token)
            try await sample.approve(ids[1])
            let delivery = try await sample.eventually { store in
                try store.request(ids[1]).flatMap { $0.life.delivery == .queued ? nil : $0.life.delivery }
            }
            #expect(delivery == .delivered(.authenticated))
        }
    }

    @Test func `of many decisions at once none is forgotten`() async throws {
        var cards: [SampleEnrollment] = []
        for number in 0..<5 {
            let card = try await sample.enrolled("card-\(number)")
            try await sample.receive(
                messages: try (0..<30).map { try sample.message(.numbered(number * 100 + $0), for: card) }, for: card)
            cards.append(card)
        }
        let ids = try await sample.requests().map(\.id)
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await withThrowingTaskGroup { group in
                for id in ids { group.addTask { try await sample.decide(.deny(.userDenied), id) } }
                try await group.waitForAll()
            }
            try await sample.eventually { try $0.outboxCount(enrollment: nil) == 0 ? true : nil }
        }
        #expect(await sample.issuer.decisions.count == 150)
    }
}
