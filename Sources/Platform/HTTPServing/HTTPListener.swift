import Glibc
package import HummingbirdCore
package import Logging
package import NIOCore
import NIOPosix

/// Listens on one address, and answers what comes there in HTTP: what the agent's servers have in common.
package struct HTTPListener: Sendable {
    private let address: BindAddress
    private let serverName: String?
    private let connections: Int
    private let log: Logger

    /// - Parameters:
    ///   - serverName: what the field `server` of an answer says; nil: there is none.
    ///   - connections: so many at a time; more wait until one is closed.
    package init(_ address: BindAddress, serverName: String? = nil, connections: Int, log: Logger) {
        self.address = address
        self.serverName = serverName
        self.connections = connections
        self.log = log
    }

    /// As many as have places, some more for whom others are closed, and the strangers of a ``PeerGate``.
    package init(_ address: BindAddress, places: SourcePlaces, log: Logger) {
        self.init(address, connections: places.limit + SourcePlaces.spare + PeerGate.maxStrangers, log: log)
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Parameter onListening: called with the address once it is taken; nobody is answered before it returns.
    /// - Throws: `IOError` if the address cannot be listened on.
    package func run(
        _ channel: some ServerChildChannel, onListening: @escaping @Sendable (String) async -> Void
    ) async throws {
        try await run(channel, onTaken: { await onListening($0.address) })
    }

    /// Serves until a graceful shutdown, or until it is retired and its last connection has ended.
    func run(_ channel: some ServerChildChannel, onTaken: @escaping @Sendable (Listening) async -> Void) async throws {
        var quiet = log
        quiet.logLevel = .notice
        let server = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: address, serverName: serverName,
                availableConnectionsDelegate: MaximumAvailableConnections(connections)),
            onServerRunning: { listening in
                await onTaken(
                    Listening(
                        address: listening.localAddress?.text ?? "unknown", retire: { try? await listening.close() }))
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        try await server.run()
    }
}

/// An address that is listened on.
struct Listening: Sendable {
    let address: String
    /// Has it take no more connections; those that are there go on.
    ///
    /// SwiftNIO removes the socket at a Unix address as it closes it.
    let retire: @Sendable () async -> Void
}

extension SocketAddress {
    /// As a setting has it, `127.0.0.1:9464` or `[::1]:9464`, with the port that was taken; a socket's path.
    fileprivate var text: String {
        guard let host = ipAddress, let port else { return pathname ?? "" }
        return `protocol` == .inet6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension IOError {
    /// The kernel's word for it.
    package var text: String {
        // glibc keeps the text per thread (strerror(3)), and it is copied at once.
        unsafe String(cString: strerror(errnoCode))
    }
}
