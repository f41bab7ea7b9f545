internal import NIOCore
internal import NIOHTTP1

/// Limits the bytes of an answer that a connection buffers before the decoder delivers them.
///
/// These are the head, the chunk lines and the trailers. The guard is in front of the HTTP decoder. It counts the bytes
/// since the decoder last delivered a part. The library's own limit for header fields is 2 MiB.
final class HeadGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    struct TooLargeError: Error {}

    /// The most bytes of header fields, names and values.
    static let maxBytes = 16_384
    /// The bytes of one read, and so the most that a connection buffers besides the accepted parts.
    static let readBytes = 16_384

    private let progress: Progress

    fileprivate init(_ progress: Progress) { self.progress = progress }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        progress.bytes += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        guard progress.bytes > Self.maxBytes + Self.readBytes else { return }
        progress.bytes = 0
        context.fireErrorCaught(TooLargeError())
        context.close(promise: nil)
    }

    static func fits(_ fields: HTTPHeaders) -> Bool {
        fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } <= maxBytes
    }

    /// Adds the guard around the decoder of a new connection, and makes the connection read little at a time.
    static func guardConnection(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            let progress = Progress()
            try pipeline.addHandler(HeadGuard(progress), position: .before(decoder))
            try pipeline.addHandler(progress, position: .after(decoder))
            let options = channel.syncOptions
            try options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readBytes))
            try options?.setOption(.maxMessagesPerRead, value: 1)
            // The kernel's receive buffer is memory too, and grows with unread bytes.
            try options?.setOption(.socketOption(.so_rcvbuf), value: 65_536)
        }
    }

    /// Receives each part of an answer from the decoder.
    fileprivate final class Progress: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias InboundOut = HTTPClientResponsePart

        /// Bytes since the last part.
        var bytes = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes = 0
            context.fireChannelRead(data)
        }
    }
}
