package import HTTPTypes

/// What every call of a page has to be before anything is done for it.
package struct PageGuard: Sendable {
    /// By their hosts.
    private let origins: [String: PageOrigin]
    private let loopbackScheme: String
    private let takesLocalhost: Bool

    /// - Parameters:
    ///   - origins: the server's own. Another name in `Host` is that of somebody who has pointed it at this machine (DNS
    ///     rebinding).
    ///   - loopbackScheme: `http` or `https`, with which the server is also called by every name of the loopback, at any
    ///     port: a tunnel has a port of its own. Nobody can point these names anywhere else.
    ///   - takesLocalhost: whether `localhost` is such a name. It has two addresses: if another user listens on this port
    ///     of the other one, a page of that user's has the same origin.
    package init(_ origins: Set<PageOrigin>, loopbackScheme: String, takesLocalhost: Bool = true) {
        self.takesLocalhost = takesLocalhost
        self.origins = Dictionary(origins.map { ($0.host, $0) }) { one, _ in one }
        self.loopbackScheme = loopbackScheme
    }

    /// The origin of this server that a call asks for, by its `Host`; `nil` if that is none of its names.
    package func origin(of call: HTTPRequest) -> PageOrigin? {
        guard let host = call.authority?.lowercased() else { return nil }
        if let own = origins[host] { return own }
        return isLoopback(host) ? PageOrigin(scheme: loopbackScheme, host: host) : nil
    }

    /// Whether a host, with or without a port, is `localhost`, `[::1]` or an address of 127.0.0.0/8 in four numbers.
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

    /// Whether a page of another site has led the browser here; of a link that someone typed or opened none has.
    ///
    /// Browsers that do not say it are believed to be led by nobody.
    package static func isFromElsewhere(_ call: HTTPRequest) -> Bool {
        call.headerFields[.fetchSite].map { !["same-origin", "none"].contains($0) } ?? false
    }

    /// Whether a script, a picture or a style asks and no window: nobody need be there who looks at it.
    ///
    /// A client that does not say it is believed to show what it asks for.
    package static func isInBackground(_ call: HTTPRequest) -> Bool {
        call.headerFields[.fetchDestination].map { $0 != "document" } ?? false
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
        guard origin(of: call) != nil, !Self.isFromElsewhere(call) || Self.isNavigation(call) else { return false }
        return call.method == .get || isOwn(call)
    }

    /// Whether a call says that it comes from a page of the origin that it asks for.
    package func isOwn(_ call: HTTPRequest) -> Bool {
        call.headerFields[.origin].map { $0 == origin(of: call)?.text } ?? false
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
