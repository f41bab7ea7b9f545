package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1

extension HTTP1Channel {
    /// Calls `setup`, and makes each connection end after the request that is the last one in HTTP.
    package func setupWithLastRequests(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(LastRequests(), position: .after(decoder))
            return value
        }
    }
}

/// A handler that marks the last request of a connection in the one way that Hummingbird understands.
///
/// HTTP has more ways: `close` in any letter case and among other options (RFC 9110 section 7.6.1), and HTTP/1.0
/// without `keep-alive` (RFC 9112 section 9.3). A client of HTTP/1.0 gets no `100 Continue` (RFC 9110 section 10.1.1).
private final class LastRequests: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), !head.isKeepAlive || head.version == .http1_0 else {
            return context.fireChannelRead(data)
        }
        if !head.isKeepAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
        if head.version == .http1_0 { head.headers.remove(name: "expect") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
