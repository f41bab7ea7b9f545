import Control
import HTTPServing
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// What happens on one connection of the control socket: HTTP/1.1, for those who may, within bounds.
struct ControlChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    /// The most connections of users who may not even look; for one more another of these is cut.
    static let maxStrangers = 16
    /// The time that a stranger has to ask, so that it can be told why it is refused.
    private static let patienceWithStrangers: TimeAmount = .seconds(2)

    let router: ControlRouter
    let access: PeerAccess
    let places: ControlPlaces
    /// The time that a client may take to say something, or to read an answer.
    let patience: TimeAmount
    let strangers = ControlPlaces(limit: maxStrangers)
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

    /// Tells a stranger why it is refused if it asks at once, and cuts it.
    private func refuse(_ caller: Caller, on value: Value, logger: Logger) async {
        access.noteRefusal(caller)
        let channel = value.channel
        let place = strangers.enter(caller.peer.owners) { channel.close(promise: nil) }.entered
        let deadline = channel.eventLoop.scheduleTask(in: Self.patienceWithStrangers) { channel.close(promise: nil) }
        defer {
            deadline.cancel()
            strangers.leave(place)
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
    /// The most bytes of a stream that are written before it is seen what has become of those before.
    private static let paceBytes = 16_384

    /// The same; of a stream, more is written once the connection has taken what was written before.
    ///
    /// Only then is it known whether the client reads. While its event loop is busy, any number of pieces could come into
    /// memory. A few short ones may: to wait for each costs more than to write it.
    fileprivate func paced(by loop: any EventLoop) -> ResponseBody {
        guard contentLength == nil else { return self }
        let written = BytesWritten()
        return map { piece in
            if written.add(piece.readableBytes, upTo: Self.paceBytes) { try await loop.submit {}.get() }
            return piece
        }
    }
}

/// The number of bytes of a stream that were written since it was last waited for.
private final class BytesWritten: Sendable {
    private let bytes = Mutex(0)

    /// - Returns: whether there are more than `limit` with those; then they are counted anew.
    func add(_ count: Int, upTo limit: Int) -> Bool {
        bytes.withLock { bytes in
            bytes += count
            guard bytes > limit else { return false }
            bytes = 0
            return true
        }
    }
}
