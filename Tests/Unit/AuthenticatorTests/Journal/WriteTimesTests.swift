import IssuerProtocol
import StoreTables
import Testing
import TextAndTime

@testable import Authenticator
@testable import Records

#if PostgreSQL
import Dispatch
import ScratchDirectories
import TestStores
#endif

/// A write waits for its turn; what it says and judges by is the time of its own database transaction.
@Suite(.timeLimit(.minutes(10)))
struct WriteTimesTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test func `each entry of the journal has the time at which its write had its turn`() async throws {
        try await sample.issuer.enrolls()
        let early = Box<[String]>([])
        sample.store.beforeWriting { [sample] in sample.clock.advance(by: 1) }
        sample.store.beforeCommitting { [sample] writer in
            let now = UTCTime.text(sample.now)
            early.change { $0 += writer.newEntries.filter { $0.at != now }.map { "\($0.kind) \($0.at)" } }
        }
        try await sample.agent.prepare()
        _ = try await sample.agent.enroll(sample.parameters(), patience: 0)
        let (card, request) = try await sample.enrolledWithPIN()
        #expect(try await sample.refusal(of: request, pin: .wrong)?.code == .userNotVerified)
        try await sample.approve(request, pin: .right)
        try await sample.agent.changePIN(of: card.id, from: .right, to: .wrong)
        _ = try await sample.agent.exportKey(.sealed, of: card.id, for: SampleAgent.peer)
        let other = try await sample.enrolled("other")
        try await sample.receive(.numbered(1), .numbered(2), .numbered(3), .numbered(4), for: other)
        let ids = try await sample.requests().filter { $0.enrollmentId == other.id }.map(\.id)
        try await sample.decide(.deny(.userDenied), ids[0])
        await sample.issuer.onStatus { (_) throws(IssuerError) in 41 }
        await sample.agent.signCountWatch.recheck(other.id)
        try await sample.approve(ids[1])
        try await sample.deliverAll()
        sample.clock.advance(by: 700)
        try await sample.agent.expiryService.work()
        try await sample.agent.fetcher.setKnown(false, try await sample.enrollment(other.id))
        _ = try await sample.agent.unenroll(other.id, locally: true, forced: true)
        #expect(early.value == [])
        let kinds = Set(try await sample.journal().map(\.kind))
        let wanted: Set<JournalFact.Kind> = [
            .decided, .notVerified, .pinChanged, .commanded, .signCountRaised, .answered, .expired, .suspended,
            .unenrolled,
            .presented,
        ]
        #expect(wanted.subtracting(kinds) == [])
        let times = try await sample.journal().map(\.at)
        #expect(times == times.sorted())
    }

    @Test(arguments: [RequestLife.Decision.approve, .deny(.userDenied)])
    func `a decision whose request expires before the write's turn is none`(decision: RequestLife.Decision) async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(exp: 20), for: card)
        let id = try await sample.onlyRequest().id
        // So that an approval writes nothing before it decides.
        await sample.agent.signCountWatch.ensureChecked(card.id)
        sample.store.beforeWriting { [sample] in sample.clock.advance(by: 20) }
        #expect(try await failureCode { try await sample.decide(decision, id) } == .noLongerDecidable)
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.enrollment(card.id).signCount == 0)
    }

    @Test(arguments: [-5_000.0, -300, 5_000])
    func `a request that came while the clock was wrong is presented if the clock is right at its write's turn`(
        ahead: Double
    ) async throws {
        let card = try await sample.enrolled()
        sample.clock.set(ahead: ahead)
        sample.store.beforeWriting { [sample] in sample.clock.set(ahead: 0) }
        try await sample.receive(SampleRequest(), for: card)
        #expect(try await sample.onlyRequest().life == .pending)
    }

    @Test func `a request whose time ends before it is written is not presented`() async throws {
        let card = try await sample.enrolled()
        sample.store.beforeWriting { [sample] in sample.clock.advance(by: 20) }
        try await sample.receive(SampleRequest(exp: 20), for: card)
        #expect(try await sample.onlyRequest().life == .expired)
        #expect(try await sample.journal().allSatisfy { $0.kind != .presented })
    }

    #if PostgreSQL
    @Test func `a decision whose request expires while another host holds the row is none`() async throws {
        let (alpha, beta) = try SampleAgent.twoHosts()
        let card = try await alpha.enrolled()
        try await alpha.receive(SampleRequest(exp: 20), for: card)
        let id = try await alpha.onlyRequest().id
        await alpha.agent.signCountWatch.ensureChecked(card.id)
        let (isHeld, release) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
        async let holding: Void = beta.store.write { writer in
            _ = try writer.enrollment(card.id)
            isHeld.continuation.finish()
            release.wait()
        }
        for await _ in isHeld.stream {}
        async let code = failureCode { try await alpha.approve(id) }
        while try lockWaits(at: "\(alpha.directory.path)/store.sqlite") == 0 { await Task.yield() }
        alpha.clock.advance(by: 20)
        release.signal()
        #expect(try await code == .noLongerDecidable)
        try await holding
        #expect(try await alpha.request(id).life == .pending)
    }
    #endif
}
