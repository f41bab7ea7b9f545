import Control
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Makes a problem (RFC 9457) of the bare 400 that Hummingbird answers to what is no HTTP, with 431 for a head that is
/// too large.
final class UnreadableRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let headers: HTTP1Channel.Configuration.DecoderConfiguration
    private var problem: ControlError?

    init(headers: HTTP1Channel.Configuration.DecoderConfiguration) { self.headers = headers }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError {
            problem =
                if case .headerOverflow = error {
                    ControlError(
                        .headerTooLarge,
                        "the head has at most \(headers.maxHeaderFieldCount) fields, \(headers.maxHeaderFieldSize) bytes "
                            + "in one, and \(headers.maxHeaderListSize) in all")
                } else {
                    ControlError(.invalidArgument, "this is no request of HTTP/1.1: \(error)")
                }
        }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let problem, head.status == .badRequest,
            head.headerFields[.contentLength] == "0"
        else { return context.write(data, promise: promise) }
        let body = ByteBuffer(bytes: Answer.problemBody(problem))
        head.status = .init(code: problem.token.httpStatus)
        head.headerFields[.contentType] = ControlError.contentType
        head.headerFields[.contentLength] = "\(body.readableBytes)"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: promise)
    }
}
