import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Whoever waits for a request looks when that may have come, and not at each that comes.
@Suite(.timeLimit(.minutes(20)))
struct WaitingTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func selector(_ name: String) throws -> RequestSelector { try #require(RequestSelector(name)) }

    @Test func `a request that comes has nobody look who waits for another`() async throws {
        let card = try await sample.enrolled()
        let reads = Box(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let other = try selector("other-\(number)")
                group.addTask { _ = try? await sample.agent.request(other, enrollment: nil, wait: 100) }
            }
            try await sample.clock.sleepers(20)
            sample.store.beforeReading { reads.change { $0 += 1 } }
            try await sample.receive(.numbered(1), for: card)
            let id = try await sample.requests()[0].id
            try await sample.approve(id)
            try await sample.deliverAll()
            for _ in 0..<1_000 { await Task.yield() }
            group.cancelAll()
        }
        #expect(reads.value < 20, "\(reads.value) reads, with 20 who wait")
    }

    @Test(arguments: ["jti", "acsTransId", "ACSTRANSID", "beginning", "next"])
    func `whoever waits finds it by each of its names`(kind: String) async throws {
        let card = try await sample.enrolled()
        let request = SampleRequest.numbered(1)
        let name =
            switch kind {
            case "jti": request.jti
            case "acsTransId": request.acsTransId
            case "ACSTRANSID": request.acsTransId.uppercased()
            case "beginning": String(request.acsTransId.prefix(30))
            default: "next"
            }
        let selector = try selector(name)
        async let found = sample.agent.request(selector, enrollment: card.id, wait: 100)
        try await sample.clock.sleepers()
        try await sample.receive(request, for: card)
        #expect(try await found.jti.text == request.jti)
    }

    @Test(arguments: [true, false])
    func `whoever waits finds what nobody was told of after a gap, and at the latest when the time is over`(
        isGap: Bool
    ) async throws {
        let hub = EventHub { $0.kind != nil }
        let sample = try SampleAgent(hub: hub)
        let card = try await sample.enrolled()
        let selector = try selector("next")
        async let found = sample.agent.request(selector, enrollment: card.id, wait: 100)
        try await sample.clock.sleepers()
        try await sample.receive(.numbered(1), for: card)
        if isGap { hub.publish(.gap) } else { sample.clock.advance(by: 100) }
        #expect(try await found.jti.text == "request-1")
    }

    @Test func `what may bring a request is told apart by enrollment`() async throws {
        let (mine, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        let names = RequestNames(id: try #require(RequestID("0123456789abcdef0123")), jti: "pay-1", acsTransId: "2f37")
        for name in ["pay-1", "0123", "2F3"] {
            let isExpected = try selector(name).expected(of: mine.id)
            #expect(isExpected(.requestReceived(names, of: mine.id)))
            #expect(!isExpected(.requestReceived(names, of: other.id)))
            #expect(!isExpected(.journaled(.presented, of: mine.id, request: names.id)))
        }
        for name in ["pay", "pay-10", "123", "37"] {
            #expect(try !selector(name).expected(of: nil)(.requestReceived(names, of: mine.id)))
        }
        let next = RequestSelector.next.expected(of: mine.id)
        #expect(next(.journaled(.presented, of: mine.id)) && !next(.journaled(.presented, of: other.id)))
        #expect(!next(.journaled(.expired, of: mine.id)) && !next(.requestReceived(names, of: mine.id)))
        #expect(RequestSelector.next.expected(of: nil)(.journaled(.superseded, of: other.id)))
    }
}
