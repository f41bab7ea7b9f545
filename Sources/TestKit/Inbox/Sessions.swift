import PageServing
import Synchronization

/// The lifetimes of sessions and links.
struct SessionLimits: Sendable, Equatable {
    /// Between two acts of whoever looks at the page.
    let idle: Duration
    /// From the link that was followed to the end.
    let whole: Duration
    /// Of a link that nobody follows.
    let link: Duration

    /// RTS Article 4(3)(d): at most five minutes without activity.
    static let payers = SessionLimits(idle: .seconds(300), whole: .seconds(28_800), link: .seconds(600))
    /// If nobody's money is behind any enrollment.
    static let tests = SessionLimits(idle: .seconds(28_800), whole: .seconds(28_800), link: .seconds(28_800))
}

/// The sessions of the page: each was opened with a link that the program printed.
///
/// A link works once, and only the newest does; it makes a session, which a browser shows by a cookie. Each session has a
/// token that every form carries, so that no other page can send one.
final class Sessions: Sendable {
    typealias Moment = ContinuousClock.Instant

    struct Session: Sendable {
        /// In the cookie: 43 characters of base64url.
        let id: String
        /// In each form.
        let formToken: String
        /// The origin at which the link was followed: the session is of no other.
        let origin: PageOrigin
        fileprivate let began: Moment
        fileprivate var active: Moment

        fileprivate func lives(at now: Moment, within limits: SessionLimits) -> Bool {
            now - active < limits.idle && now - began < limits.whole
        }
    }

    /// More browsers than this at a time end the session of the oldest.
    private static let limit = 16

    private struct State: Sendable {
        /// The newest link that nobody followed.
        var link: (token: String, made: Moment)?
        var sessions: [Session] = []
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Moment

    /// - Parameter now: a clock that nobody sets and that counts while the machine sleeps.
    init(now: @escaping @Sendable () -> Moment) { self.now = now }

    /// Makes the token of the link that works next; one that was made before works no more.
    func makeLink() -> String {
        let link = (token: Self.random(), made: now())
        state.withLock { $0.link = link }
        return link.token
    }

    /// Uses a link up.
    ///
    /// A cookie knows no ports, and another user's page may set it at another name of the loopback: so a session is of the
    /// origin at which it began.
    ///
    /// - Returns: `nil` if it is not the one that works next, or its time is over.
    func enter(_ token: String, at origin: PageOrigin, within limits: SessionLimits) -> Session? {
        let now = now()
        return state.withLock { state in
            guard let link = state.link, Self.areEqual(link.token, token), now - link.made < limits.link else {
                return nil
            }
            state.link = nil
            let session = Session(
                id: Self.random(), formToken: Self.random(), origin: origin, began: now, active: now)
            if state.sessions.count == Self.limit { state.sessions.removeFirst() }
            state.sessions.append(session)
            return session
        }
    }

    /// Whether a token is that of the link that works next, unless its time is over.
    func hasLink(_ token: String) -> Bool {
        state.withLock { state in state.link.map { Self.areEqual($0.token, token) } ?? false }
    }

    /// The session at an origin that one of some cookies is of.
    ///
    /// - Parameter isActivity: whether its time without activity begins anew.
    /// - Returns: `nil` if there is none, or its time is over; then it may be found with other limits, until it is ended.
    func session(
        _ ids: [String], at origin: PageOrigin, within limits: SessionLimits, isActivity: Bool
    ) -> Session? {
        let now = now()
        return state.withLock { state in
            let index = state.sessions.firstIndex { session in
                session.origin == origin && ids.contains { Self.areEqual(session.id, $0) }
                    && session.lives(at: now, within: limits)
            }
            guard let index else { return nil }
            if isActivity { state.sessions[index].active = now }
            return state.sessions[index]
        }
    }

    /// Ends the sessions of some cookies.
    func end(_ ids: [String]) {
        state.withLock { state in
            state.sessions.removeAll { session in ids.contains { Self.areEqual(session.id, $0) } }
        }
    }

    /// Without a difference in time that tells how much of the text was right.
    static func areEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// 256 bits of the system's generator, which on Linux is getrandom(2).
    private static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let bytes = (0..<43).map { _ in alphabet[Int(generator.next(upperBound: UInt8(64)))] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
