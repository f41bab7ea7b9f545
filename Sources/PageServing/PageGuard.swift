package import HTTPTypes

/// What every call of a page has to be before anything is done for it.
package struct PageGuard: Sendable {
    /// Host and port as a browser's address shows them, such as `127.0.0.1:8300`.
    private let hosts: Set<String>
    private let origins: Set<String>

    /// - Parameters:
    ///   - hosts: the server's own names, each with its port. Another name in `Host` is that of somebody who has pointed
    ///     it at this machine (DNS rebinding).
    ///   - scheme: of the page's own origin, `http` or `https`.
    package init(hosts: Set<String>, scheme: String = "http") {
        self.hosts = hosts
        origins = Set(hosts.map { "\(scheme)://\($0)" })
    }

    /// Whether a call is for this server by one of its own names, and, if it is to change something, from this page.
    package func admits(_ call: HTTPRequest) -> Bool {
        guard let host = call.authority, hosts.contains(host) else { return false }
        // Browsers that know it say where a call comes from; a link that someone typed or opened is from nowhere.
        if let site = call.headerFields[.fetchSite], !["same-origin", "none"].contains(site) { return false }
        guard call.method != .get else { return true }
        guard let origin = call.headerFields[.origin] else { return false }
        return origins.contains(origin)
    }

    /// The fields that every answer has.
    package static let fields: HTTPFields = [
        .cacheControl: "no-store",
        .contentSecurityPolicy: "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
            + "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
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

    fileprivate static let fetchSite = field("sec-fetch-site")
    fileprivate static let frameOptions = field("x-frame-options")
    fileprivate static let openerPolicy = field("cross-origin-opener-policy")
    fileprivate static let resourcePolicy = field("cross-origin-resource-policy")
    package static let referrerPolicy = field("referrer-policy")
    package static let contentDispositionField = field("content-disposition")
}
