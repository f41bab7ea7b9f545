import PageServing
import Synchronization

/// The lifetimes of sessions and links.
struct SessionLimits: Sendable, Equatable {
    /// The time between two activities of the user.
    let idle: Duration
    /// The time from the use of the link to the end of the session.
    let whole: Duration
    /// The time for which an unused link is valid.
    let link: Duration

    /// RTS Article 4(3)(d): at most five minutes without activity.
    static let payers = SessionLimits(idle: .seconds(300), whole: .seconds(28_800), link: .seconds(600))
    /// The limits if all enrollments are for tests, so that no one's money is at risk.
    static let tests = SessionLimits(idle: .seconds(28_800), whole: .seconds(28_800), link: .seconds(28_800))
}

/// The sessions of the page; each one starts with a link that the program printed.
///
/// A link works once, and only the newest link works. It starts a session, which a browser identifies by a cookie. Each
/// session has a token in every form, so that no other page can send one.
final class Sessions: Sendable {
    typealias Moment = ContinuousClock.Instant

    struct Session: Sendable {
        /// The ID in the cookie: 43 characters of base64url.
        let id: String
        /// The token in each form.
        let formToken: String
        /// The origin at which the link was used; the session is valid only there.
        let origin: PageOrigin
        fileprivate let began: Moment
        fileprivate var active: Moment

        fileprivate func lives(at now: Moment, within limits: SessionLimits) -> Bool {
            now - active < limits.idle && now - began < limits.whole
        }
    }

    /// The limit of sessions; a further one ends the oldest.
    private static let limit = 16

    private struct State: Sendable {
        /// The newest link, while it is unused.
        var link: (token: String, made: Moment)?
        var sessions: [Session] = []
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Moment

    /// - Parameter now: a monotonic clock that also counts while the machine sleeps.
    init(now: @escaping @Sendable () -> Moment) { self.now = now }

    /// Makes the token of the next valid link; earlier links are no longer valid.
    func makeLink() -> String {
        let link = (token: Self.random(), made: now())
        state.withLock { $0.link = link }
        return link.token
    }

    /// Uses up a link, and starts a session.
    ///
    /// Cookies do not distinguish ports, and another user's page may set one under another loopback name. So a session
    /// is valid only at the origin at which it started.
    ///
    /// - Returns: `nil` if the link is not the valid one or has expired.
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

    /// Returns whether a token is that of the valid link, without a check of its age.
    func hasLink(_ token: String) -> Bool {
        state.withLock { state in state.link.map { Self.areEqual($0.token, token) } ?? false }
    }

    /// Returns the session at an origin that belongs to one of some cookies.
    ///
    /// - Parameter isActivity: whether the time without activity restarts.
    /// - Returns: `nil` if there is none or it has expired. It can still be found with other limits, until it is ended.
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
    func remove(_ ids: [String]) {
        state.withLock { state in
            state.sessions.removeAll { session in ids.contains { Self.areEqual(session.id, $0) } }
        }
    }

    /// Compares in constant time, so that the duration does not reveal how much of the text was right.
    static func areEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Returns 43 random characters (at least 256 bits) of the system's generator, on Linux getrandom(2).
    private static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let bytes = (0..<43).map { _ in alphabet[Int(generator.next(upperBound: UInt8(64)))] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
