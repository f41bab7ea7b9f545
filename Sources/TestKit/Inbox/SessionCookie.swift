import HTTPTypes
import PageServing

/// The cookie by which a browser shows its session: for this site alone and for no script.
struct SessionCookie: Sendable {
    /// The cookie's name.
    let name: String
    private let attributes: String

    /// - Parameters:
    ///   - origin: the origin that the browser asks for. Under https the cookie is for https alone and for this host
    ///     alone, whatever another host of the domain sets (`__Host-`, RFC 6265bis section 4.1.3.2).
    ///   - port: of the inbox. A browser shows a cookie to every port of its host, so each inbox has one of its own.
    init(of origin: PageOrigin, port: Int?) {
        let own = "oob-inbox" + (port.map { "-\($0)" } ?? "")
        let isSecure = origin.scheme == "https"
        name = isSecure ? "__Host-\(own)" : own
        attributes = "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    /// The field `set-cookie` that begins a session.
    func begin(_ session: Sessions.Session) -> String { "\(name)=\(session.id); \(attributes)" }

    /// The field `set-cookie` that takes it back.
    var end: String { "\(name)=; \(attributes); Max-Age=0" }

    /// All values of this name: whoever serves another port of the host may have set one as well.
    func values(in fields: HTTPFields) -> [String] {
        fields[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { return nil }
            return String(parts[1])
        }
    }
}
