import Glibc
package import NIOCore
import NIOPosix

/// Bytes to and from a server on a port of the loopback, or on a Unix socket.
package struct RawHTTP: Sendable {
    package typealias Inbound = NIOAsyncChannelInboundStream<ByteBuffer>
    package typealias Outbound = NIOAsyncChannelOutboundWriter<ByteBuffer>

    private enum Place {
        case port(Int)
        case socket(String)
    }

    private let place: Place

    package init(port: Int) { place = .port(port) }

    package init(socket path: String) { place = .socket(path) }

    package func connected(_ body: (Inbound, Outbound) async throws -> Void) async throws {
        let address =
            switch place {
            case .port(let port): try SocketAddress(ipAddress: "127.0.0.1", port: port)
            case .socket(let path): try SocketAddress(unixDomainSocketPath: path)
            }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        try await channel.executeThenClose(body)
    }

    /// Sends some bytes.
    ///
    /// - Parameter thenFinishes: whether it closes its half then.
    /// - Returns: all that comes until the server closes the connection, which on a busy machine may be before all is sent.
    package func answer(to sent: [UInt8], thenFinishes: Bool = false) async throws -> String {
        var answer: [UInt8] = []
        do {
            try await connected { inbound, outbound in
                try await outbound.write(ByteBuffer(bytes: sent))
                if thenFinishes { outbound.finish() }
                for try await part in inbound { answer += part.readableBytesView }
            }
        } catch let error as IOError where [EPIPE, ECONNRESET].contains(error.errnoCode) {
        } catch ChannelError.ioOnClosedChannel {
        }
        return String(decoding: answer, as: UTF8.self)
    }

    package func answer(to sent: String) async throws -> String { try await answer(to: Array(sent.utf8)) }
}

/// The bytes that have come on a connection.
package struct ReceivedText {
    private var parts: RawHTTP.Inbound.AsyncIterator
    private var bytes: [UInt8] = []

    package init(_ inbound: RawHTTP.Inbound) { parts = inbound.makeAsyncIterator() }

    /// All up to this end, of what was not returned before; less if the server closes the connection.
    package mutating func next(to end: String) async throws -> String {
        while true {
            if let range = bytes.firstRange(of: end.utf8) { return take(range.upperBound) }
            guard let part = try await parts.next() else { return take(bytes.count) }
            bytes += part.readableBytesView
        }
    }

    private mutating func take(_ count: Int) -> String {
        defer { bytes.removeFirst(count) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
