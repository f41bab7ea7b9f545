import HTTPServing
import HTTPTypes
import PageServing

/// Answers to connections and requests that are refused before the responder.
enum Refusals {
    /// Returns the whole answer to a refused connection, of which no byte was read.
    static func bytes(of refusal: PeerGate.Refusal) -> [UInt8] {
        switch refusal {
        case .otherUser: otherUser
        case .notKnown: notKnown
        }
    }

    private static let help =
        "oob-inbox answers the user who runs it, and root. With --allow-peer USER it answers "
        + "another one, such as a proxy's."
    private static let otherUser = response(
        "Not for this user", "This connection is another user's of this machine. \(help)")
    private static let notKnown = response(
        "Not known whose this is", "The kernel does not say which user of this machine this connection is of. \(help)")

    private static func response(_ title: String, _ sentence: String) -> [UInt8] {
        let body = Pages.refusal(title, sentence)
        let fields = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        let head = "HTTP/1.1 403 Forbidden\r\n\(fields)connection: close\r\ncontent-length: \(body.utf8.count)\r\n\r\n"
        return Array((head + body).utf8)
    }

    /// Returns the answer to a request head that cannot be read.
    static func reply(to reason: UnreadableRequests.Reason) -> UnreadableRequests.Reply {
        switch reason {
        case .headTooLarge:
            UnreadableRequests.Reply(
                status: .requestHeaderFieldsTooLarge, fields: fields,
                body: Array(
                    Pages.refusal(
                        "Too many cookies",
                        "The browser sent more than 16 KiB of cookies: those of other programs on this host too. Delete "
                            + "this host's cookies in the browser, or open the inbox in a private window."
                    ).utf8))
        case .noHTTP:
            UnreadableRequests.Reply(
                status: .badRequest, fields: fields,
                body: Array(Pages.refusal("Not understood", "This is no request of HTTP/1.1.").utf8))
        }
    }

    /// The fields of every page, except that the style is inline.
    private static let fields: HTTPFields = {
        var fields = PageGuard.fields
        fields[.contentType] = "text/html; charset=utf-8"
        fields[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        return fields
    }()
}
