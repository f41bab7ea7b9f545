import NIOCore
import NIOHTTP1
import NIOPosix

/// Serves an issuer of the kit's on a port of the loopback.
///
/// It is of plain channel handlers: a server of async channels that is cancelled while a connection comes in ends the
/// process.
enum KitServer {
    /// Serves while `body` runs.
    ///
    /// - Parameter secrets: gets the codes and tokens that the issuer makes.
    static func with<Value: Sendable>(
        _ secrets: KnownSecrets, _ body: @escaping @Sendable (KitIssuer) async throws -> Value
    ) async throws -> Value {
        let holder = KitHolder()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                guard holder.connects() else { return channel.close() }
                channel.closeFuture.whenComplete { _ in holder.disconnects() }
                return channel.pipeline.configureHTTPServerPipeline(withErrorHandling: true).flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(KitConnection(holder: holder))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let result: Result<Value, any Error>
        do {
            let issuer = try KitIssuer(port: server.localAddress?.port ?? 0, secrets: secrets)
            holder.set(issuer)
            result = .success(try await body(issuer))
        } catch { result = .failure(error) }
        // Polls that are held end, and their connections with them.
        holder.set(nil)
        try? await server.close()
        return try result.get()
    }
}

/// One connection: a request at a time, whole before it is answered.
private final class KitConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let maxBody = 65_536

    private let holder: KitHolder
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(holder: KitHolder) { self.holder = holder }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let piece):
            guard body.count + piece.readableBytes <= Self.maxBody else { return context.close(promise: nil) }
            body += piece.readableBytesView
        case .end:
            guard let head else { return }
            self.head = nil
            answer(KitRequestHead(head), body, isKeptAlive: head.isKeepAlive, context)
        }
    }

    private func answer(
        _ head: KitRequestHead, _ body: [UInt8], isKeptAlive: Bool, _ context: ChannelHandlerContext
    ) {
        let (channel, holder) = (context.channel, holder)
        channel.eventLoop.makeFutureWithTask { await KitResponder.answer(to: head, body, by: holder) }
            .whenSuccess { answer in
                let stays = isKeptAlive && holder.get() != nil
                var fields = HTTPHeaders(answer.headers)
                fields.add(name: "content-length", value: String(answer.body.count))
                if !stays { fields.add(name: "connection", value: "close") }
                let head = HTTPResponseHead(
                    version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: fields)
                channel.write(HTTPServerResponsePart.head(head), promise: nil)
                channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil)
                channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in
                    if !stays { channel.close(promise: nil) }
                }
            }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
