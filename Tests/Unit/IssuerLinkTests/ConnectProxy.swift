import NIOCore
import NIOPosix
import Synchronization
import Testing

/// An HTTP proxy on the loopback that tunnels: whatever host a client names, the tunnel ends at `target`.
struct ConnectProxy: Sendable {
    private final class Seen: Sendable {
        let requests = Mutex<[String]>([])
    }

    let port: Int
    private let seen: Seen

    /// The request lines that came, in order.
    var requests: [String] { seen.requests.withLock { $0 } }

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Serves while `body` runs.
    static func run(to target: Int, _ body: (ConnectProxy) async throws -> Void) async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
        let proxy = ConnectProxy(port: try #require(listener.channel.localAddress?.port), seen: Seen())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await withThrowingDiscardingTaskGroup { connections in
                    try await listener.executeThenClose { clients in
                        for try await client in clients {
                            connections.addTask { try? await proxy.serve(client, target) }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            try await body(proxy)
        }
    }

    private func serve(_ client: Connection, _ target: Int) async throws {
        try await client.executeThenClose { fromClient, toClient in
            var head = ""
            var reader = fromClient.makeAsyncIterator()
            while !head.hasSuffix("\r\n\r\n"), let bytes = try await reader.next() { head += String(buffer: bytes) }
            let line = head.prefix { $0 != "\r\n" }
            seen.requests.withLock { $0.append(String(line)) }
            let server = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: target) { channel in
                    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
                }
            try await server.executeThenClose { fromServer, toServer in
                try await toClient.write(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { for try await bytes in fromServer { try await toClient.write(bytes) } }
                    while let bytes = try await reader.next() { try await toServer.write(bytes) }
                    group.cancelAll()
                }
            }
        }
    }
}
