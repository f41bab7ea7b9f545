import HTTPServing
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// What happens on one connection of the receiver: HTTP/1.1 within bounds.
struct PushChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let responder: PushResponder
    let bounds: PushBounds

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http { _, _, _ in }.setup(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async {
        let patience = ClientPatience(value.channel, seconds: bounds.patience)
        defer { patience.end() }
        let peer = value.channel.remoteAddress?.ipAddress ?? "unknown"
        await http { [responder] request, writer, _ in
            let (response, isTaken) = await responder.answer(to: request, from: peer)
            try await writer.write(response: response.head, body: response.body)
            if isTaken { patience.renew() }
        }.handle(value: value, logger: logger)
    }

    private func http(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTP1Channel {
        HTTP1Channel(
            responder: responder,
            configuration: .init(
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: PushBounds.headerFieldOctets, maxHeaderListSize: PushBounds.headerOctets,
                    maxHeaderFieldCount: PushBounds.headerFields)))
    }
}
