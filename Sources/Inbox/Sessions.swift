import PageServing
import Synchronization

/// Who may use the page: whoever followed a link that the program printed.
///
/// A link works once; it makes a session, which a browser shows by a cookie. Each session has a token that every form
/// carries, so that no other page can send one.
final class Sessions: Sendable {
    struct Session: Sendable {
        /// In the cookie: 43 characters of base64url.
        let id: String
        /// In each form.
        let formToken: String
    }

    /// More browsers than this at a time end the session of the oldest.
    private static let limit = 16

    private struct State: Sendable {
        var link: String
        var sessions: [Session] = []
    }

    private let state = Mutex(State(link: Sessions.random()))

    /// The cookie's name.
    ///
    /// A browser shows a cookie to every port of its host, so each inbox has one of its own.
    let cookie: String

    /// What else the cookie has: it is for this site alone, for no script, and under https: for nothing but that.
    let cookieAttributes: String

    init(of origin: PageOrigin) {
        let port = origin.host.split(separator: ":").last.flatMap { Int($0) }
        cookie = "oob-inbox" + (port.map { "-\($0)" } ?? "")
        cookieAttributes = "Path=/; HttpOnly; SameSite=Strict" + (origin.scheme == "https" ? "; Secure" : "")
    }

    /// The token of the link that works next.
    var link: String { state.withLock { $0.link } }

    /// Uses a link up.
    ///
    /// - Returns: nil if it is not the one that works next.
    func enter(_ token: String) -> Session? {
        state.withLock { state in
            guard Self.areEqual(state.link, token) else { return nil }
            state.link = Self.random()
            let session = Session(id: Self.random(), formToken: Self.random())
            if state.sessions.count == Self.limit { state.sessions.removeFirst() }
            state.sessions.append(session)
            return session
        }
    }

    /// The session of a cookie; nil if there is none.
    func session(_ id: String) -> Session? {
        state.withLock { state in state.sessions.first { Self.areEqual($0.id, id) } }
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
