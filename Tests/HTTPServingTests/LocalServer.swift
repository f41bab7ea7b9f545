import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import HTTPServing

/// A server on a port of the loopback, and bytes to and from it.
struct LocalServer: Sendable {
    typealias Inbound = NIOAsyncChannelInboundStream<ByteBuffer>
    typealias Outbound = NIOAsyncChannelOutboundWriter<ByteBuffer>

    let port: Int

    /// Serves while `body` runs.
    static func run(
        seconds: Int = 86_400, places: SourcePlaces = SourcePlaces(limit: 8),
        _ responder: @escaping PatientChannel.Responder, _ body: (LocalServer) async throws -> Void
    ) async throws {
        let channel = PatientChannel(
            .init(fieldBytes: 1_024, bytes: 4_096, fields: 32), seconds: seconds, places: places, responder)
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let listener = HTTPListener(.hostname("127.0.0.1", port: 0), places: places, log: log)
        let (addresses, listening) = AsyncStream.makeStream(of: String.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listener.run(channel) { listening.yield($0) } }
            defer { group.cancelAll() }
            for await address in addresses {
                let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
                return try await body(LocalServer(port: port))
            }
        }
    }

    func connected(_ body: (Inbound, Outbound) async throws -> Void) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose(body)
    }

    /// Sends some bytes.
    ///
    /// - Returns: all that comes until the server closes the connection.
    func answer(to sent: String) async throws -> String {
        var answer = ""
        try await connected { inbound, outbound in
            try await outbound.write(ByteBuffer(string: sent))
            for try await part in inbound { answer += String(buffer: part) }
        }
        return answer
    }
}

/// What has come on a connection.
struct Received {
    private var parts: LocalServer.Inbound.AsyncIterator
    private var text = ""

    init(_ inbound: LocalServer.Inbound) { parts = inbound.makeAsyncIterator() }

    /// All up to this end, of what was not returned before; less if the server closes the connection.
    mutating func next(to end: String) async throws -> String {
        while true {
            if let range = text.utf8.firstRange(of: end.utf8) {
                defer { text = String(text[range.upperBound...]) }
                return String(text[..<range.upperBound])
            }
            guard let part = try await parts.next() else {
                defer { text = "" }
                return text
            }
            text += String(buffer: part)
        }
    }
}
