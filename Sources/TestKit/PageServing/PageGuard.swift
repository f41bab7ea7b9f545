package import HTTPTypes

/// The checks that every request for a page must pass first.
package struct PageGuard: Sendable {
    /// The origins by host.
    private let origins: [String: PageOrigin]
    private let loopbackScheme: String
    private let takesLocalhost: Bool

    /// - Parameters:
    ///   - origins: the server's own. Any other name in `Host` comes from a site that points it at this machine (DNS
    ///     rebinding).
    ///   - loopbackScheme: `http` or `https`. With it, every loopback name is the server's too, at any port: a tunnel
    ///     has a port
    ///     of its own. Nobody can point these names at another machine.
    ///   - takesLocalhost: whether `localhost` is such a name. It has two addresses: if another user listens on this
    ///     port at the
    ///     other address, a page of that user has the same origin.
    package init(_ origins: Set<PageOrigin>, loopbackScheme: String, takesLocalhost: Bool = true) {
        self.takesLocalhost = takesLocalhost
        self.origins = Dictionary(origins.map { ($0.host, $0) }) { one, _ in one }
        self.loopbackScheme = loopbackScheme
    }

    /// Returns the origin that a request's `Host` names, or `nil` if it is not one of this server's names.
    package func origin(of call: HTTPRequest) -> PageOrigin? {
        guard let host = call.authority?.lowercased() else { return nil }
        if let own = origins[host] { return own }
        return isLoopback(host) ? PageOrigin(scheme: loopbackScheme, host: host) : nil
    }

    /// Whether a host, with or without a port, is `localhost`, `[::1]` or a dotted address of 127.0.0.0/8.
    private func isLoopback(_ host: String) -> Bool {
        let end = host.hasSuffix("]") ? nil : host.lastIndex(of: ":")
        let port = end.map { host[host.index(after: $0)...] }
        guard port.map({ (1...5).contains($0.utf8.count) && UInt16($0) != nil && $0.first != "+" }) ?? true else {
            return false
        }
        let name = end.map { host[..<$0] } ?? host[...]
        if name == "localhost" { return takesLocalhost }
        if name == "[::1]" { return true }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { number in UInt8(number).map { "\($0)" == number } ?? false }
    }

    /// Whether a page of another site led the browser here, not a link that a user typed or opened.
    ///
    /// A browser that does not send Sec-Fetch-Site counts as not led.
    package static func isFromElsewhere(_ call: HTTPRequest) -> Bool {
        call.headerFields[.fetchSite].map { !["same-origin", "none"].contains($0) } ?? false
    }

    /// Whether a script, a picture or a style makes the request, not a window: no user needs to be present.
    ///
    /// A client that does not send Sec-Fetch-Dest counts as a window.
    package static func isInBackground(_ call: HTTPRequest) -> Bool {
        call.headerFields[.fetchDestination].map { $0 != "document" } ?? false
    }

    /// Whether a request follows a link in a window of its own, which shows the page only to the user.
    private static func isNavigation(_ call: HTTPRequest) -> Bool {
        call.method == .get && call.headerFields[.fetchMode] == "navigate"
            && call.headerFields[.fetchDestination] == "document"
    }

    /// Whether a request names this server, and comes from this page if it changes something.
    ///
    /// A link from another site's page is admitted. Background loads and forms of such a page are not.
    package func admits(_ call: HTTPRequest) -> Bool {
        guard origin(of: call) != nil, !Self.isFromElsewhere(call) || Self.isNavigation(call) else { return false }
        return call.method == .get || isOwn(call)
    }

    /// Whether a request's Origin is the origin that it asks for.
    package func isOwn(_ call: HTTPRequest) -> Bool {
        call.headerFields[.origin].map { $0 == origin(of: call)?.text } ?? false
    }

    /// The header fields of every answer.
    package static let fields: HTTPFields = [
        .cacheControl: "no-store",
        .contentSecurityPolicy: "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
            + "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        // With "no-referrer" a browser sends "null" as the origin of this page's own forms.
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
