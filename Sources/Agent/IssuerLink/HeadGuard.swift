internal import NIOCore
internal import NIOHTTP1

/// Bounds what a connection keeps in memory of an answer before anybody sees it: its head, chunk lines and trailers.
///
/// It stands before the HTTP decoder and counts the bytes that came since the decoder last had something to say. The
/// library's own bound for header fields is 2 MiB.
final class HeadGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    struct TooLargeError: Error {}

    /// The most bytes of header fields, names and values.
    static let maxBytes = 16_384
    /// The bytes that are read at a time, and so those that a connection has in hand beside what was taken in.
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

    /// Puts the guard around the decoder of a new connection, which then reads little at a time.
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
            // The kernel's own buffer is memory too, and grows with what is not read.
            try options?.setOption(.socketOption(.so_rcvbuf), value: 65_536)
        }
    }

    /// Sees each part of an answer that the decoder has found.
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
