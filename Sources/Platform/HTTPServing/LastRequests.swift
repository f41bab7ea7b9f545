package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1

extension HTTP1Channel {
    /// As `setup`; and each connection ends after the request after which HTTP lets it end.
    package func setupWithLastRequests(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(LastRequests(), position: .after(decoder))
            return value
        }
    }
}

/// Says of the last request of a connection that it is the last, in the one way that Hummingbird understands.
///
/// HTTP has more: `close` in any case and among other options (RFC 9110 section 7.6.1), and HTTP/1.0 without
/// `keep-alive` (RFC 9112 section 9.3). A client of HTTP/1.0 is not asked to go on (RFC 9110 section 10.1.1).
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
