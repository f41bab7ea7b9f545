import NIOCore
import NIOHTTP1
import NIOPosix
import Sandbox
import Synchronization

/// A server for the issuer of a case, on a loopback port.
///
/// It uses plain channel handlers: a server of async channels that is cancelled while a connection comes in ends the
/// process.
enum ScriptedSandboxServer {
    /// Serves while `body` runs.
    ///
    /// - Parameter secrets: receives the codes and tokens that the issuer makes.
    static func with<Value: Sendable>(
        _ secrets: KnownSecrets, _ body: @escaping @Sendable (ScriptedSandbox) async throws -> Value
    ) async throws -> Value {
        let holder = SandboxHolder()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                guard holder.connects() else { return channel.close() }
                channel.closeFuture.whenComplete { _ in holder.disconnects() }
                return channel.pipeline.configureHTTPServerPipeline(withErrorHandling: true).flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(SandboxConnection(holder: holder))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let result: Result<Value, any Error>
        do {
            let issuer = try ScriptedSandbox(port: server.localAddress?.port ?? 0, secrets: secrets)
            holder.set(issuer)
            result = .success(try await body(issuer))
        } catch { result = .failure(error) }
        // Waiting polls end, and their connections with them.
        holder.close()
        try? await server.close()
        return try result.get()
    }
}

/// A holder of a server's issuer, from the time its port is known until the case ends.
private final class SandboxHolder: Sendable {
    /// The limit of connections to a case's issuer; the server closes a further one.
    private static let maxConnections = 64

    private let issuer = Mutex<ScriptedSandbox?>(nil)
    private let connections = Mutex(0)

    func set(_ issuer: ScriptedSandbox) { self.issuer.withLock { $0 = issuer } }

    func get() -> ScriptedSandbox? { issuer.withLock { $0 } }

    func close() {
        let issuer = issuer.withLock { held in
            defer { held = nil }
            return held
        }
        issuer?.endWaits()
    }

    /// Counts a connection, or returns false if the limit is reached.
    func connects() -> Bool {
        connections.withLock { count in
            guard count < Self.maxConnections else { return false }
            count += 1
            return true
        }
    }

    func disconnects() { connections.withLock { $0 -= 1 } }
}

/// A connection: one request at a time, read completely before it is answered.
private final class SandboxConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let maxBody = 65_536

    private let holder: SandboxHolder
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(holder: SandboxHolder) { self.holder = holder }

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
            let call = Call(
                head.method.rawValue, target: head.uri, authorization: head.headers.first(name: "authorization"),
                body: body)
            answer(call, isKeptAlive: head.isKeepAlive, context.channel)
        }
    }

    private func answer(_ call: Call, isKeptAlive: Bool, _ channel: any Channel) {
        channel.eventLoop.makeFutureWithTask { [holder] in
            await holder.get()?.answer(to: call) ?? Answer(status: 503)
        }.whenSuccess { [holder] answer in
            let stays = isKeptAlive && holder.get() != nil
            var fields = answer.fields
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

extension Answer {
    fileprivate var fields: HTTPHeaders {
        var fields = HTTPHeaders([("content-length", String(body.count))])
        if let contentType { fields.add(name: "content-type", value: contentType) }
        if let retryAfter { fields.add(name: "retry-after", value: String(retryAfter)) }
        if status == 401 { fields.add(name: "www-authenticate", value: "Bearer") }
        // A redirect leads to another path of this issuer.
        if (300..<400).contains(status) { fields.add(name: "location", value: "/redirected") }
        return fields
    }
}
