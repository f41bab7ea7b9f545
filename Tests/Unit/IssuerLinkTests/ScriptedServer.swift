import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// What a server sends for one request, byte for byte, and what it does then.
struct Reply: Sendable {
    enum Then: Sendable {
        case keepOpen, close
        /// Says nothing more until the client is gone.
        case hang
        /// Sends the bytes again and again until the client is gone.
        case endless([UInt8])
    }

    let bytes: [UInt8]
    let then: Then

    init(_ head: String, body: [UInt8] = [], then: Then = .keepOpen) {
        bytes = Array(head.utf8) + body
        self.then = then
    }

    /// A whole answer with its `Content-Length`.
    static func answer(
        _ status: Int, _ body: [UInt8] = [], type: String? = "application/json", headers: [String] = []
    ) -> Reply {
        let lines =
            ["HTTP/1.1 \(status) Whatever"] + headers + (type.map { ["Content-Type: \($0)"] } ?? [])
            + (status == 204 ? [] : ["Content-Length: \(body.count)"])
        return Reply(lines.joined(separator: "\r\n") + "\r\n\r\n", body: body)
    }

    static func answer(_ status: Int, text: String, type: String? = "application/json", headers: [String] = []) -> Reply
    { .answer(status, Array(text.utf8), type: type, headers: headers) }

    static let silence = Reply("", then: .hang)
}

/// What came over the wire.
struct ReceivedRequest: Sendable {
    let method: String
    let target: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
}

/// A server on the loopback that answers as it is told, and says what happens to it.
struct ScriptedServer: Sendable {
    typealias Script = @Sendable (ReceivedRequest) -> Reply

    enum Event: Sendable {
        case received(ReceivedRequest)
        /// All of the reply but what `then` adds is on its way.
        case replied
        case closed
    }

    let port: Int
    let events: AsyncStream<Event>

    /// Serves while `body` runs.
    static func run<Value: Sendable>(
        tls: NIOSSLContext? = nil, _ script: @escaping Script,
        _ body: (ScriptedServer) async throws -> Value
    ) async throws -> Value {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let (events, sink) = AsyncStream<Event>.makeStream()
        let server = ScriptedServer(port: try #require(listener.channel.localAddress?.port), events: events)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await accept(on: listener, script: script, events: sink) }
            defer { group.cancelAll() }
            return try await body(server)
        }
    }

    private static func accept(
        on listener: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>, script: @escaping Script,
        events sink: AsyncStream<Event>.Continuation
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { connections in
                for try await connection in connections {
                    group.addTask {
                        // A client that is gone is what many tests are about.
                        try? await serve(connection, script: script, events: sink)
                        sink.yield(.closed)
                    }
                }
            }
        }
    }

    private static func serve(
        _ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>, script: Script,
        events sink: AsyncStream<Event>.Continuation
    ) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var reader = RequestReader(inbound: inbound.makeAsyncIterator())
            while let request = try await reader.next() {
                sink.yield(.received(request))
                let reply = script(request)
                if !reply.bytes.isEmpty { try await outbound.write(ByteBuffer(bytes: reply.bytes)) }
                sink.yield(.replied)
                switch reply.then {
                case .keepOpen: continue
                case .close: return
                case .hang: return try await reader.drain()
                case .endless(let bytes): while true { try await outbound.write(ByteBuffer(bytes: bytes)) }
                }
            }
        }
    }
}

private struct RequestReader {
    var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var bytes: [UInt8] = []

    init(inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator) { self.inbound = inbound }

    /// Nil when the client has closed.
    mutating func next() async throws -> ReceivedRequest? {
        while true {
            if let request = parsed() { return request }
            guard let more = try await inbound.next() else { return nil }
            bytes += more.readableBytesView
        }
    }

    mutating func drain() async throws { while try await inbound.next() != nil {} }

    private mutating func parsed() -> ReceivedRequest? {
        let mark = Array("\r\n\r\n".utf8)
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { return nil }
        var lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = lines.removeFirst().split(separator: " ").map(String.init)
        let headers = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: String(parts[1].drop { $0 == " " }))
        }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        let start = end + mark.count
        guard bytes.count >= start + length else { return nil }
        let body = Array(bytes[start..<start + length])
        bytes.removeFirst(start + length)
        return ReceivedRequest(method: words[0], target: words[1], headers: headers, body: body)
    }
}

/// A port of the loopback on which nobody listens, and nobody else can while this lives.
final class ClosedPort: Sendable {
    struct Failure: Error { let errno: CInt }

    let number: Int
    private let descriptor: CInt

    init() throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 ? unsafe getsockname(descriptor, address, &length) : -1
            }
        }
        guard result == 0 else { throw Failure(errno: errno) }
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
