package import HTTPTypes
import HummingbirdCore
package import NIOCore
import NIOHTTP1
package import NIOHTTPTypes

/// A handler that answers a head that is too large or not HTTP with a sentence, not Hummingbird's bare 400.
package final class UnreadableRequests: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// The reason why a request cannot be read.
    package enum Reason: Sendable {
        case headTooLarge
        /// The request is not HTTP; the text is the parser's error.
        case noHTTP(String)
    }

    package struct Reply: Sendable {
        let status: HTTPResponse.Status
        let fields: HTTPFields
        let body: [UInt8]

        /// - Parameter fields: all fields except `connection` and `content-length`.
        package init(status: HTTPResponse.Status, fields: HTTPFields, body: [UInt8]) {
            self.status = status
            self.fields = fields
            self.body = body
        }
    }

    private let answer: @Sendable (Reason) -> Reply
    private var reason: Reason?

    package init(_ answer: @escaping @Sendable (Reason) -> Reply) { self.answer = answer }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError {
            reason = if case .headerOverflow = error { .headTooLarge } else { .noHTTP("\(error)") }
        }
        context.fireErrorCaught(error)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let reason, head.status == .badRequest,
            head.headerFields[.contentLength] == "0"
        else { return context.write(data, promise: promise) }
        let answer = answer(reason)
        head.status = answer.status
        head.headerFields = answer.fields
        head.headerFields[.connection] = "close"
        head.headerFields[.contentLength] = "\(answer.body.count)"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: answer.body))), promise: promise)
    }
}
