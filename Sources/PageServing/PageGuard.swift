package import HTTPTypes

/// What every call of a page has to be before anything is done for it.
package struct PageGuard: Sendable {
    private let hosts: Set<String>
    private let origins: Set<String>

    /// - Parameter origins: the server's own. Another name in `Host` is that of somebody who has pointed it at this
    ///   machine (DNS rebinding).
    package init(_ origins: Set<PageOrigin>) {
        hosts = Set(origins.map(\.host))
        self.origins = Set(origins.map(\.text))
    }

    /// Whether a call is for this server by one of its own names.
    package func knows(_ call: HTTPRequest) -> Bool { call.authority.map(hosts.contains) ?? false }

    /// Whether a page of another site has led the browser here; of a link that someone typed or opened none has.
    ///
    /// Browsers that do not say it are believed to be led by nobody.
    package static func isFromElsewhere(_ call: HTTPRequest) -> Bool {
        call.headerFields[.fetchSite].map { !["same-origin", "none"].contains($0) } ?? false
    }

    /// Whether it is a link that was followed, in a window of its own: that shows a page, and to nobody else.
    private static func isNavigation(_ call: HTTPRequest) -> Bool {
        call.method == .get && call.headerFields[.fetchMode] == "navigate"
            && call.headerFields[.fetchDestination] == "document"
    }

    /// Whether a call is for this server by one of its own names, and, if it is to change something, from this page.
    ///
    /// A link of another site's page to this one is let in; what such a page loads or sends in the background is not.
    package func admits(_ call: HTTPRequest) -> Bool {
        guard knows(call), !Self.isFromElsewhere(call) || Self.isNavigation(call) else { return false }
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
    fileprivate static let fetchMode = field("sec-fetch-mode")
    fileprivate static let fetchDestination = field("sec-fetch-dest")
    fileprivate static let frameOptions = field("x-frame-options")
    fileprivate static let openerPolicy = field("cross-origin-opener-policy")
    fileprivate static let resourcePolicy = field("cross-origin-resource-policy")
    package static let referrerPolicy = field("referrer-policy")
    package static let contentDispositionField = field("content-disposition")
}
