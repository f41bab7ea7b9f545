import Glibc
package import HummingbirdCore
package import Logging
package import NIOCore
import NIOPosix

/// A listener on one address that answers in HTTP: the common part of the agent's servers.
package struct HTTPListener: Sendable {
    private let address: BindAddress
    private let serverName: String?
    private let connections: Int
    private let log: Logger

    /// - Parameters:
    ///   - serverName: the field `server` of an answer. `nil` if answers do not have it.
    ///   - connections: the most connections at a time. More wait until one is closed.
    package init(_ address: BindAddress, serverName: String? = nil, connections: Int, log: Logger) {
        self.address = address
        self.serverName = serverName
        self.connections = connections
        self.log = log
    }

    /// Accepts a connection for each place, spare ones for which others are closed, and a ``PeerGate``'s strangers.
    package init(_ address: BindAddress, places: SourcePlaces, log: Logger) {
        self.init(address, connections: places.limit + SourcePlaces.spare + PeerGate.maxRefusedPeers, log: log)
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Parameter onListening: called with the address once it is bound. No request is answered before it returns.
    /// - Throws: `IOError` if the address cannot be listened on.
    package func serve(
        _ channel: some ServerChildChannel, onListening: @escaping @Sendable (String) async -> Void
    ) async throws {
        try await serve(channel, onTaken: { await onListening($0.address) })
    }

    /// Serves until a graceful shutdown, or until the listener is retired and its last connection has ended.
    func serve(_ channel: some ServerChildChannel, onTaken: @escaping @Sendable (Listening) async -> Void) async throws
    {
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

/// An address that has a listener.
struct Listening: Sendable {
    let address: String
    /// Stops accepting connections; the open ones go on.
    ///
    /// SwiftNIO removes the file of a Unix socket when it closes the socket.
    let retire: @Sendable () async -> Void
}

extension SocketAddress {
    /// The address as in a setting, such as `127.0.0.1:9464` or `[::1]:9464`, or the path of a Unix socket.
    ///
    /// The port is the port that was bound.
    fileprivate var text: String {
        guard let host = ipAddress, let port else { return pathname ?? "" }
        return `protocol` == .inet6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension IOError {
    /// The system's text for the error.
    package var text: String {
        // glibc keeps the text per thread (strerror(3)), and the text is copied at once.
        unsafe String(cString: strerror(errnoCode))
    }
}
