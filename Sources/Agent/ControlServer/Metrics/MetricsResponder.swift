import Authenticator
import HTTPTypes
import HummingbirdCore

/// The responder of the metrics port: `GET /metrics`.
struct MetricsResponder: Sendable {
    static let path = "/metrics"

    let agent: Agent

    func answer(to request: Request) async -> (response: Response, isGood: Bool) {
        let answer = await Self.answer(to: request, of: agent)
        return (answer.response, answer.status == 200)
    }

    private static func answer(to request: Request, of agent: Agent) async -> Answer {
        // A web page may reach this port under a host name of its own (DNS rebinding), and must not learn anything.
        guard isLoopback(request.head.authority) else { return .plain(421, "this host only: localhost\n") }
        guard request.uri.path == path else { return .plain(404, "there is \(path) only\n") }
        guard request.method == .get else {
            var refusal = Answer.plain(405, "\(path) takes GET only\n")
            refusal.allowed = ["GET"]
            return refusal
        }
        return Answer(contentType: MetricsText.contentType, body: MetricsText(await agent.figures()).bytes)
    }

    /// Returns whether the field `host` names this machine (RFC 9110 §7.2).
    static func isLoopback(_ authority: String?) -> Bool {
        guard let authority else { return false }
        if authority == "[::1]" || authority.hasPrefix("[::1]:") { return true }
        let host = authority.prefix { $0 != ":" }
        let isAddress = host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
        return host.lowercased() == "localhost" || isAddress && host.hasPrefix("127.")
    }
}

extension Answer {
    fileprivate static func plain(_ status: Int, _ text: String) -> Answer {
        Answer(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }
}
