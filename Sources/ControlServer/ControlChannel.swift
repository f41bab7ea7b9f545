import Authenticator
import Control
import HTTPServing
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// What happens on one connection of the control socket: HTTP/1.1, for those who may, within bounds.
struct ControlChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let router: ControlRouter
    let access: PeerAccess
    let places: ConnectionPlaces
    let headers: HTTP1Channel.Configuration.DecoderConfiguration

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http { _, _, _ in }.setupWithLastRequests(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async {
        guard let caller = await access.caller(value.channel) else {
            // Closes it at once.
            try? await value.executeThenClose { _, _ in }
            return
        }
        let (connection, leaving) = places.take(value.channel, of: caller)
        if let leaving { access.noteCrowd(leaving) }
        connection.begin()
        await http { [router] request, writer, _ in
            let response = await router.answer(to: request, on: connection).response(to: request)
            connection.waitForClient(unread: response.body.contentLength ?? 0)
            try await writer.write(response: response.head, body: response.body)
        }.handle(value: value, logger: logger)
    }

    private func http(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTP1Channel {
        HTTP1Channel(
            responder: responder,
            configuration: .init(
                additionalChannelHandlers: [UnreadableRequests(headers: headers)], httpDecoderConfiguration: headers))
    }
}
