import DurableFiles
import IssuerProtocol
import Keys
import ScratchDirectories
import StrictJSON
import TestStores
import Testing
import WebAuthn

@testable import Authenticator
@testable import Journal
@testable import Records

/// Approvals that take a PIN: at most five wrong PINs in a row, then a block (PSD2 RTS Article 4(3)(b) and 4(4)).
@Suite(.timeLimit(.minutes(20)))
struct PINApprovalTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    /// Nothing was signed, and the request waits on.
    private func expectUndecided(_ request: RequestID, of card: SampleEnrollment) async throws {
        #expect(try await sample.request(request).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
        #expect(try await sample.enrollment(card.id).signCount == 0)
    }

    @Test func `with the right PIN the assertion says that the user was verified, and the journal by what`()
        async throws
    {
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.approve(request, pin: .right)
        let response = try await sample.outbox(of: card)[0].assertion
        _ = try AssertionVerifier.verify(
            response, publicKey: card.publicKey, credentialId: card.enrollment.credentialId,
            userHandle: Array("user".utf8), challenge: try SampleRequest().challenge, origin: "https://issuer.example",
            rpId: "issuer.example", userVerificationRequired: true, signCount: .mustRise(above: 0))
        #expect(try await sample.newest(.decided).json["verified"] == "pin")
        #expect(try await sample.tries(of: card) == .fresh)
    }

    @Test func `without one the PIN is asked for, and no try counts`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        for _ in 0..<10 {
            let refusal = try await sample.refusal(of: request, pin: nil)
            #expect(refusal?.code == .pinRequired && refusal?.request?.id == request)
        }
        #expect(try await sample.tries(of: card) == .fresh)
        try await expectUndecided(request, of: card)
    }

    @Test func `the answer to a wrong one says that the PIN is wrong, and how many tries are left`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        for left in ["4 tries left", "3 tries left", "2 tries left", "1 try left"] {
            let refusal = try await sample.refusal(of: request, pin: .wrong)
            #expect(refusal?.code == .userNotVerified)
            #expect(
                refusal?.message
                    == "not verified: wrong PIN. \(left) before enrollment \(card.id) is blocked")
        }
        try await expectUndecided(request, of: card)
    }

    @Test func `the fifth in a row blocks, and says until when; then not even the right one is taken`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.approveWithWrongPIN(request, times: 4)
        for pin in [try PIN.wrong, try PIN.right, nil] {
            let refusal = try await sample.refusal(of: request, pin: pin)
            #expect(refusal?.code == .blocked)
            #expect(refusal?.message.contains("the next try is possible at 2023-11-14T22:14:20Z") == true)
        }
        #expect(try await sample.tries(of: card) == PINTries(failures: 5, blockedUntil: sample.now + 60))
        #expect(sample.agent.blockedUntil(try await sample.enrollment(card.id)) == sample.now + 60)
        try await expectUndecided(request, of: card)
    }

    @Test func `after each wait there is one try, across restarts, and the right one ends it`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.approveWithWrongPIN(request, times: 5)
        sample.clock.advance(by: 59)
        #expect(try await sample.restarted().refusal(of: request, pin: .right)?.code == .blocked)
        sample.clock.advance(by: 1)
        #expect(sample.agent.blockedUntil(try await sample.enrollment(card.id)) == nil)
        #expect(try await sample.restarted().refusal(of: request, pin: .wrong)?.code == .blocked)
        #expect(try await sample.tries(of: card) == PINTries(failures: 6, blockedUntil: sample.now + 120))
        sample.clock.advance(by: 119)
        #expect(try await sample.restarted().refusal(of: request, pin: .right)?.code == .blocked)
        sample.clock.advance(by: 1)
        try await sample.restarted().approve(request, pin: .right)
        #expect(try await sample.tries(of: card) == .fresh)
    }

    @Test func `a right one in between counts from anew`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.approveWithWrongPIN(request, times: 4)
        try await sample.approve(request, pin: .right)
        try await sample.receive(.numbered(2), for: card)
        let second = try #require(try await sample.requests().last?.id)
        try await sample.approveWithWrongPIN(second, times: 4)
        #expect(try await sample.refusal(of: second, pin: .right) == nil)
    }

    @Test func `a deny takes no PIN, also while it is blocked`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.approveWithWrongPIN(request, times: 5)
        try await sample.decide(.deny(.suspectedFraud), request)
        #expect(try await sample.outbox(of: card).map(\.body) == [DecisionBody.deny(.suspectedFraud)])
        #expect(try await sample.tries(of: card).failures == 5)
    }

    @Test(.ofSQLite) func `a try is on the disk before the key is opened, so that whoever stops the agent gains none`()
        async throws
    {
        let (card, request) = try await sample.enrolledWithPIN()
        let seen = Box<[Int]>([])
        sample.custody.beforeOpening { [sample] in
            // As the next start would find it, were the agent killed at this moment.
            let failures = try await sample.restarted().tries(of: card).failures
            seen.change { $0.append(failures) }
            throw CancellationError()
        }
        for _ in 0..<5 {
            await #expect(throws: CancellationError.self) { try await sample.approve(request, pin: .right) }
        }
        #expect(seen.value == [1, 2, 3, 4, 5])
        let next = try sample.restarted()
        #expect(try await next.refusal(of: request, pin: .right)?.code == .blocked)
        try await expectUndecided(request, of: card)
    }

    @Test func `of many wrong ones at once five are tried`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        let tried = Box(0)
        sample.custody.beforeOpening { _ = tried.next() }
        let codes = try await withThrowingTaskGroup(of: CommandError.Code?.self) { group in
            for _ in 0..<20 { group.addTask { try await sample.refusal(of: request, pin: .wrong)?.code } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(tried.value == 5)
        #expect(codes.count { $0 == .userNotVerified } == 4 && codes.count { $0 == .blocked } == 16)
        try await expectUndecided(request, of: card)
    }

    @Test func `the right one counts as such, also if the request ends while the key is at work`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.approveWithWrongPIN(request, times: 2)
        sample.custody.beforeSigning { [sample] in try await sample.receive(SampleCancellation(), for: card) }
        #expect(try await sample.refusal(of: request, pin: .right)?.code == .noLongerDecidable)
        #expect(try await sample.tries(of: card) == .fresh)
    }

    @Test(arguments: ["cut", "of another secret"])
    func `a sealed key that is not in order costs no try`(what: String) async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.approveWithWrongPIN(request, times: 1)
        var agent = sample
        if what == "cut" {
            let sealed = try #require(try await sample.enrollment(card.id).sealedKey)
            try await sample.replaceKey(of: card.id, by: Array(sealed.dropLast()))
        } else {
            agent = try sample.restarted(secret: .generate())
        }
        for pin in [try PIN.wrong, try PIN.right] {
            await #expect(throws: (any Error).self) { try await agent.approve(request, pin: pin) }
        }
        #expect(try await sample.tries(of: card).failures == 1)
        try await expectUndecided(request, of: card)
    }

    @Test func `a key that opened without its PIN being checked signs nothing`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        sample.custody.openedKeysVerifyUser(false)
        #expect(try await sample.refusal(of: request, pin: .right)?.code == .keyUnavailable)
        try await expectUndecided(request, of: card)
    }

    @Test(arguments: [AuthnType.presence, .test])
    func `a PIN that nothing would check is refused`(authnType: AuthnType) async throws {
        let card = try await sample.enrolled(authnType: authnType)
        try await sample.receive(SampleRequest(), for: card)
        let request = try await sample.onlyRequest().id
        #expect(try await sample.refusal(of: request, pin: .right)?.code == .invalidArgument)
        try await expectUndecided(request, of: card)
        #expect(try await sample.refusal(of: request, pin: nil) == nil)
    }

    @Test func `the journal has each wrong PIN and each block, and readers are told of the blocks`() async throws {
        let (_, request) = try await sample.enrolledWithPIN()
        let position = try await sample.agent.journal.newest()
        try await sample.approveWithWrongPIN(request, times: 5)
        let entries = try await sample.journal().filter { $0.sequence > position }
        #expect(entries.map(\.kind) == Array(repeating: .notVerified, count: 5) + [.blocked])
        #expect(entries.map { $0.json["failures"] } == [1, 2, 3, 4, 5, 5])
        #expect(entries.last?.json["until"] == "2023-11-14T22:14:20Z")
        #expect(try await sample.agent.journal.events(after: EventCursor(position)).events.map(\.name) == [.blocked])
    }
}
