import HTTPTypes
import Hummingbird

/// What every request has to be before anything is done for it.
struct Guard: Sendable {
    /// `localhost:8300` and the like: the names under which the page is served.
    ///
    /// Another name in `Host` is that of somebody who has pointed it at this machine (DNS rebinding).
    let hosts: Set<String>

    init(port: Int) { hosts = Set(["localhost", "127.0.0.1", "[::1]"].map { "\($0):\(port)" }) }

    /// Whether a request is for this server by one of its own names, and, if it is to change something, from this page.
    func admits(_ request: Request) -> Bool {
        guard let host = request.head.authority, hosts.contains(host.lowercased()) else { return false }
        // Browsers that know it say where a request comes from; a link that someone typed or opened is from nowhere.
        if let site = request.headers[.fetchSite], !["same-origin", "none"].contains(site) {
            // A link on another page may lead to `/enter` alone, which asks for its token.
            guard request.method == .get, request.uri.path == "/enter", request.headers[.fetchMode] == "navigate" else {
                return false
            }
        }
        guard request.method != .get else { return true }
        guard let origin = request.headers[.origin] else { return false }
        return origin == "http://\(host.lowercased())"
    }

    /// The fields that every answer has.
    static let fields: HTTPFields = [
        .cacheControl: "no-store",
        .contentSecurityPolicy: "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        // With "no-referrer" a browser says of this page's own forms that they come from nowhere.
        .referrerPolicy: "same-origin",
        .xContentTypeOptions: "nosniff",
        .frameOptions: "DENY",
        .openerPolicy: "same-origin",
        .resourcePolicy: "same-origin",
    ]
}

extension HTTPField.Name {
    fileprivate static func field(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .date }

    static let contentDispositionField = field("content-disposition")
    static let fetchSite = field("sec-fetch-site")
    static let fetchMode = field("sec-fetch-mode")
    static let referrerPolicy = field("referrer-policy")
    static let frameOptions = field("x-frame-options")
    static let openerPolicy = field("cross-origin-opener-policy")
    static let resourcePolicy = field("cross-origin-resource-policy")
}
