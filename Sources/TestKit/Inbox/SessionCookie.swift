import HTTPTypes
import PageServing

/// The cookie of a session: sent to this site only, and hidden from scripts.
struct SessionCookie: Sendable {
    /// The cookie's name.
    let name: String
    private let attributes: String

    /// - Parameters:
    ///   - origin: the origin that the browser asks for. Under https the cookie is for https only, and for this host
    ///     only, even
    ///     if another host of the domain sets a cookie of this name (`__Host-`, RFC 6265bis section 4.1.3.2).
    ///   - port: the inbox's port. A browser sends a cookie to every port of its host, so each inbox has a cookie name
    ///     of its
    ///     own.
    init(of origin: PageOrigin, port: Int?) {
        let own = "oob-inbox" + (port.map { "-\($0)" } ?? "")
        let isSecure = origin.scheme == "https"
        name = isSecure ? "__Host-\(own)" : own
        attributes = "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    /// Returns the `set-cookie` field that starts a session.
    func begin(_ session: Sessions.Session) -> String { "\(name)=\(session.id); \(attributes)" }

    /// The `set-cookie` field that removes the cookie.
    var end: String { "\(name)=; \(attributes); Max-Age=0" }

    /// Returns all values of this cookie: a server at another port of the host may have set one too.
    func values(in fields: HTTPFields) -> [String] {
        fields[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { return nil }
            return String(parts[1])
        }
    }
}
