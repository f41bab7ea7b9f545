import Control
import HTTPServing
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// A connection of the control socket: HTTP/1.1 for permitted peers, within limits.
struct ControlChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    /// The most connections of users without any right; for one more, one of them is cut.
    static let maxRefusedPeers = 16
    /// The time for a stranger to send a request, whose answer gives the reason of the refusal.
    private static let refusalPatience: TimeAmount = .seconds(2)

    let router: ControlRouter
    let access: PeerAccess
    let places: ControlPlaces
    /// The limit for a client to send a request, or to read an answer.
    let patience: TimeAmount
    let refusedPeers = ControlPlaces(limit: maxRefusedPeers)
    let headers: HTTP1Channel.Configuration.DecoderConfiguration

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http { _, _, _ in }.setupWithLastRequests(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async {
        guard let caller = await access.caller(value.channel) else {
            // Closes the connection at once.
            try? await value.executeThenClose { _, _ in }
            return
        }
        guard caller.right >= .look else { return await refuse(caller, on: value, logger: logger) }
        let channel = value.channel
        let (place, leaving) = places.enter(caller.peer.owners) { channel.close(promise: nil) }
        if case .process(let peer)? = leaving?.member.owner { access.noteCrowd(peer) }
        let connection = ControlConnection(
            place, of: places, caller: caller, channel: channel, patience: patience)
        connection.begin()
        await http { [router, loop = channel.eventLoop] request, writer, _ in
            let exchange = Exchange(request, on: channel)
            var response = await router.answer(to: exchange.request, isHead: exchange.isHead, on: connection).response
            connection.waitForClient(unread: response.body.contentLength ?? 0)
            response.body = response.body.paced(by: loop)
            if try await exchange.send(response, by: writer) { try await exchange.close() }
        }.handle(value: value, logger: logger)
    }

    /// Sends the reason of the refusal if a stranger makes a request at once, and cuts the connection.
    private func refuse(_ caller: Caller, on value: Value, logger: Logger) async {
        access.noteRefusal(caller)
        let channel = value.channel
        let place = refusedPeers.enter(caller.peer.owners) { channel.close(promise: nil) }.entered
        let deadline = channel.eventLoop.scheduleTask(in: Self.refusalPatience) { channel.close(promise: nil) }
        defer {
            deadline.cancel()
            refusedPeers.leave(place)
        }
        let refusal = Answer.problem(ControlRouter.refusal(of: caller, for: .look))
        await http { _, writer, _ in
            let response = refusal.response
            try await writer.write(response: response.head, body: response.body)
            channel.close(promise: nil)
        }.handle(value: value, logger: logger)
    }

    private func http(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTP1Channel {
        HTTP1Channel(
            responder: responder,
            configuration: .init(
                additionalChannelHandlers: [UnreadableRequests(answeredIn: headers)], httpDecoderConfiguration: headers)
        )
    }
}

extension ResponseBody {
    /// The bytes of a stream between two waits for the event loop; the last piece may exceed them.
    private static let paceBytes = 16_384

    /// Returns the same body; a stream waits for its event loop after every 16 KiB.
    ///
    /// Only after a wait is it known whether the client reads. Otherwise, while the event loop is busy, any number of
    /// parts could pile up in memory. There is no wait after each part, because it costs more than the write of a short
    /// part.
    fileprivate func paced(by loop: any EventLoop) -> ResponseBody {
        guard contentLength == nil else { return self }
        let written = BytesWritten()
        return map { piece in
            if written.add(piece.readableBytes, upTo: Self.paceBytes) { try await loop.submit {}.get() }
            return piece
        }
    }
}

/// The number of bytes of a stream since the last wait.
private final class BytesWritten: Sendable {
    private let bytes = Mutex(0)

    /// - Returns: whether the sum exceeds `limit`. Then the count starts again.
    func add(_ count: Int, upTo limit: Int) -> Bool {
        bytes.withLock { bytes in
            bytes += count
            guard bytes > limit else { return false }
            bytes = 0
            return true
        }
    }
}
