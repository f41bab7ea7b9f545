import IssuerProtocol
import Keys
import Testing

@testable import Authenticator
@testable import Records

/// A key shows what it is before it signs.
@Suite(.timeLimit(.minutes(20)))
struct KeySelfTestTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    /// A pending request of a card.
    private func request(_ number: Int, for card: SampleEnrollment) async throws -> RequestID {
        try await sample.receive(.numbered(number), for: card)
        return try #require(try await sample.requests().last).id
    }

    /// The approval fails because of the key: nothing is signed, and the request goes on waiting.
    private func expectRefusal(_ id: RequestID, of card: SampleEnrollment) async throws -> String {
        let before = try await sample.outbox(of: card).count
        let failure = try await #require(throws: CommandError.self) { try await sample.approve(id) }
        #expect(failure.code == .keyUnavailable)
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).count == before)
        let test = try #require(sample.agent.keyTest(of: card.id))
        #expect(test.problem == failure.message && test.at == sample.now)
        return failure.message
    }

    @Test func `before its first signature since the start a key signs and verifies once`() async throws {
        let card = try await sample.enrolled()
        for number in 1...3 { try await sample.approve(try await request(number, for: card)) }
        #expect(sample.custody.proofs.value == 1)
        let passed = KeyTest(extent: .signature, at: sample.now, problem: nil)
        #expect(sample.agent.keyTest(of: card.id) == passed)
        let other = try await sample.enrolled("other")
        try await sample.approve(try await request(4, for: other))
        #expect(sample.custody.proofs.value == 2)
        let last = try await request(5, for: card)
        let later = try sample.restarted()
        #expect(later.agent.keyTest(of: card.id) == nil)
        try await later.approve(last)
        #expect(later.custody.proofs.value == 1)
    }

    @Test func `a key that does not verify what it signs signs nothing, and is tried again at the next use`()
        async throws
    {
        let card = try await sample.enrolled()
        try await sample.approve(try await request(1, for: card))
        let id = try await request(2, for: card)
        sample.custody.breakProofs()
        #expect(try await sample.approve(id).life.state == .approved, "it has proven itself since the start")
        let later = try sample.restarted()
        later.custody.breakProofs()
        try await later.receive(.numbered(3), for: card)
        let third = try #require(try await later.requests().last).id
        #expect(try await failureCode { try await later.approve(third) } == .keyUnavailable)
        #expect(try await later.outbox(of: card).count == 2)
        later.custody.breakProofs(false)
        try await later.approve(third)
        #expect(later.agent.keyTest(of: card.id)?.problem == nil)
    }

    @Test func `another key than the registered one signs nothing, until that is put back`() async throws {
        let card = try await sample.enrolled()
        try await sample.approve(try await request(1, for: card))
        let id = try await request(2, for: card)
        let label = "credential key \(card.id.text)"
        let own = try await sample.replaceKey(of: card.id, by: sample.secret.seal(.generate(.es256), label: label))
        #expect(try await expectRefusal(id, of: card).contains("another one than the one that was registered"))
        try await sample.replaceKey(of: card.id, by: own)
        try await sample.approve(id)
        #expect(sample.custody.proofs.value == 2, "after a failure it has to show it anew")
    }

    @Test func `a key whose token does not answer cannot be used, which is told until it answers`() async throws {
        let card = try await sample.enrolled()
        let id = try await request(1, for: card)
        sample.custody.beforeOpening { throw CustodyError(.silent, "the token has not answered") }
        #expect(try await expectRefusal(id, of: card).contains("the token has not answered"))
        sample.custody.beforeOpening(nil)
        try await sample.approve(id)
        #expect(sample.agent.keyTest(of: card.id)?.problem == nil)
    }

    @Test func `a PIN that is wrong or missing says nothing about the key`() async throws {
        let (card, id) = try await sample.enrolledWithPIN()
        for pin in [nil, try .wrong] as [PIN?] {
            #expect(try await sample.refusal(of: id, pin: pin) != nil)
            #expect(sample.agent.keyTest(of: card.id) == nil)
        }
        try await sample.approve(id, pin: .right)
        #expect(sample.agent.keyTest(of: card.id)?.extent == .signature)
    }

    @Test(arguments: BadKey.allCases)
    func `a sealed key that is not in order signs nothing, and others go on`(_ bad: BadKey) async throws {
        let (card, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        let id = try await request(1, for: card)
        let another = try #require(try await sample.enrollment(other.id).sealedKey)
        let own = try #require(try await sample.enrollment(card.id).sealedKey)
        try await sample.replaceKey(of: card.id, by: bad.bytes(of: own, other: another))
        #expect(try await expectRefusal(id, of: card).contains(bad.words), "\(bad)")
        try await sample.approve(try await request(2, for: other))
        try await sample.replaceKey(of: card.id, by: own)
        try await sample.approve(id)
        #expect(sample.agent.keyTest(of: card.id)?.problem == nil)
    }
}

/// What can be in the place of a sealed key.
enum BadKey: CaseIterable {
    case empty, cut, anothersKey

    func bytes(of own: [UInt8], other: [UInt8]) -> [UInt8] {
        switch self {
        case .empty: []
        case .cut: own.dropLast()
        case .anothersKey: other
        }
    }

    /// What the refusal says.
    var words: String {
        switch self {
        case .empty: "not in the form that this program seals"
        case .cut, .anothersKey: "not sealed by this secret for this use, or it was changed"
        }
    }
}
