import Authenticator
import HTTPServing
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// What happens on one connection of the metrics port: HTTP/1.1 within bounds, `GET /metrics`.
struct MetricsChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    static let path = "/metrics"
    /// The seconds for a whole request and its answer, and for the next one after it.
    private static let patience = 10
    private static let headerOctets = 8_192
    private static let headerFields = 32

    let agent: Agent

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http { _, _, _ in }.setup(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async {
        let patience = ClientPatience(value.channel, seconds: Self.patience)
        defer { patience.end() }
        await http { [agent] request, writer, _ in
            let answer = await Self.answer(to: request, of: agent)
            let response = answer.response(to: request)
            try await writer.write(response: response.head, body: response.body)
            if answer.status == 200 { patience.renew() }
        }.handle(value: value, logger: logger)
    }

    private func http(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTP1Channel {
        HTTP1Channel(
            responder: responder,
            configuration: .init(
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: Self.headerOctets, maxHeaderListSize: Self.headerOctets,
                    maxHeaderFieldCount: Self.headerFields)))
    }

    private static func answer(to request: Request, of agent: Agent) async -> Answer {
        // A page in a browser reaches this port under a name of its maker's (DNS rebinding), and is to learn nothing.
        guard isLoopback(request.head.authority) else { return .plain(421, "this host only: localhost\n") }
        guard request.uri.path == path else { return .plain(404, "there is \(path) only\n") }
        guard request.method == .get || request.method == .head else {
            var refusal = Answer.plain(405, "\(path) takes GET only\n")
            refusal.allowed = ["GET", "HEAD"]
            return refusal
        }
        return Answer(contentType: MetricsText.contentType, body: MetricsText(await agent.figures()).octets)
    }

    /// Whether the field `host` names this machine (RFC 9110 §7.2).
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
