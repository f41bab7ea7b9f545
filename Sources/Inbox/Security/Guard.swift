import HTTPTypes
import Hummingbird

/// What every request has to be before anything is done for it.
struct Guard: Sendable {
    /// The address and port that are listened on, such as `127.0.0.1:8300`.
    ///
    /// Another name in `Host` is that of somebody who has pointed it at this machine (DNS rebinding).
    let host: String

    /// Whether a request is for this server by one of its own names, and, if it is to change something, from this page.
    func admits(_ request: Request) -> Bool {
        guard request.head.authority == host else { return false }
        // Browsers that know it say where a request comes from; a link that someone typed or opened is from nowhere.
        if let site = request.headers[.fetchSite], !["same-origin", "none"].contains(site) { return false }
        guard request.method != .get else { return true }
        guard let origin = request.headers[.origin] else { return false }
        return origin == "http://\(host)"
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
    static let referrerPolicy = field("referrer-policy")
    static let frameOptions = field("x-frame-options")
    static let openerPolicy = field("cross-origin-opener-policy")
    static let resourcePolicy = field("cross-origin-resource-policy")
}
