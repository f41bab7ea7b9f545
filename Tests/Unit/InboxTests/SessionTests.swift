import Control
import PageServing
import Synchronization
import Testing

@testable import Inbox

/// How long sessions and links live, by a clock of the test's own.
@Suite struct SessionTests {
    private static let origin = PageOrigin(scheme: "http", host: "127.0.0.1:8300")

    private let clock = Clock()
    private let sessions: Sessions

    init() { sessions = Sessions { [clock] in clock.now } }

    private func entered(_ limits: SessionLimits = .payers) throws -> Sessions.Session {
        try #require(sessions.enter(sessions.makeLink(), at: Self.origin, within: limits))
    }

    private func lives(_ session: Sessions.Session, _ limits: SessionLimits, isActivity: Bool = false) -> Bool {
        sessions.session([session.id], at: Self.origin, within: limits, isActivity: isActivity) != nil
    }

    @Test func `a session is of the origin at which its link was followed, and of no other`() throws {
        let session = try entered()
        let others = ["localhost:8300", "127.0.0.1:8301", "[::1]:8300"].map { PageOrigin(scheme: "http", host: $0) }
        for other in others {
            #expect(sessions.session([session.id], at: other, within: .payers, isActivity: true) == nil)
        }
        #expect(lives(session, .payers))
    }

    @Test func `a session ends after five minutes without activity`() throws {
        let session = try entered()
        clock.advance(by: .seconds(299))
        #expect(lives(session, .payers, isActivity: true))
        clock.advance(by: .seconds(299))
        #expect(lives(session, .payers))
        clock.advance(by: .seconds(1))
        #expect(!lives(session, .payers, isActivity: true))
    }

    @Test func `an event stream is no activity`() throws {
        let session = try entered()
        for _ in 0..<59 {
            clock.advance(by: .seconds(5))
            #expect(lives(session, .payers, isActivity: false))
        }
        clock.advance(by: .seconds(5))
        #expect(!lives(session, .payers))
    }

    @Test func `a session ends after eight hours, however active`() throws {
        let session = try entered()
        for _ in 0..<(8 * 3_600 / 240 - 1) {
            clock.advance(by: .seconds(240))
            #expect(lives(session, .payers, isActivity: true))
        }
        clock.advance(by: .seconds(240))
        #expect(!lives(session, .payers, isActivity: true))
        #expect(!lives(session, .tests))
    }

    @Test func `a link lives ten minutes, and works once`() {
        let link = sessions.makeLink()
        clock.advance(by: .seconds(599))
        #expect(sessions.enter(link, at: Self.origin, within: .payers) != nil)
        #expect(sessions.enter(link, at: Self.origin, within: .payers) == nil)
        let late = sessions.makeLink()
        clock.advance(by: .seconds(600))
        #expect(sessions.enter(late, at: Self.origin, within: .payers) == nil)
        #expect(sessions.enter(late, at: Self.origin, within: .tests) != nil)
    }

    @Test func `only the newest link works`() {
        let (first, second) = (sessions.makeLink(), sessions.makeLink())
        #expect(sessions.enter(first, at: Self.origin, within: .tests) == nil)
        #expect(sessions.enter(second, at: Self.origin, within: .tests) != nil)
    }

    @Test func `a session of tests has eight hours, and by the limits of payers none after five minutes`() throws {
        let session = try entered(.tests)
        clock.advance(by: .seconds(2 * 3_600))
        #expect(lives(session, .tests))
        #expect(!lives(session, .payers))
        clock.advance(by: .seconds(6 * 3_600))
        #expect(!lives(session, .tests))
    }

    @Test func `who logs out has no session, and others keep theirs`() throws {
        let (one, other) = (try entered(), try entered())
        sessions.remove([one.id])
        #expect(!lives(one, .tests))
        #expect(lives(other, .payers))
    }

    @Test func `a seventeenth browser ends the session of the oldest`() throws {
        let first = try entered()
        for _ in 0..<15 { _ = try entered() }
        #expect(lives(first, .payers))
        _ = try entered()
        #expect(!lives(first, .payers))
    }

    @Test func `which enrollments there are is asked every half minute, and kept if nobody answers`() async throws {
        let answers = Mutex<[Bool?]>([true, false, nil, true])
        let kinds = EnrollmentKinds(now: { [clock] in clock.now }) { () throws(ClientError) in
            guard let answer = answers.withLock({ $0.removeFirst() }) else { throw .unreachable("nobody") }
            return answer
        }
        #expect(await kinds.limits == .tests)
        clock.advance(by: .seconds(29))
        #expect(await kinds.limits == .tests)
        for expected in [SessionLimits.payers, .payers, .tests] {
            clock.advance(by: EnrollmentKinds.memory)
            #expect(await kinds.limits == expected)
        }
    }
}

/// A clock that stands until it is moved.
private final class Clock: Sendable {
    private let moment = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { moment.withLock { $0 } }

    func advance(by duration: Duration) { moment.withLock { $0 += duration } }
}
