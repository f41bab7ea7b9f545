package import Authenticator
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle

/// Takes Web Push (RFC 8030) by HTTP or HTTPS.
package struct PushServer: Sendable {
    private let channel: PushChannel
    private let address: ListenAddress
    private let identity: ServerIdentity?
    private let connections: Int
    private let log: Logger

    /// - Parameter identity: nil: plain HTTP, for loopback or a proxy in front.
    package init(
        reception: PushReception, address: ListenAddress, identity: ServerIdentity?, bounds: PushBounds, log: Logger
    ) {
        channel = PushChannel(responder: PushResponder(reception: reception), bounds: bounds)
        self.address = address
        self.identity = identity
        connections = bounds.connections
        self.log = log
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Throws: ``PushServerError`` where the address cannot be listened on.
    package func run() async throws {
        guard let identity else { return try await serve(channel) }
        try await serve(try TLSChannel(channel, tlsConfiguration: identity.configuration))
    }

    private func serve(_ channel: some ServerChildChannel) async throws {
        var quiet = log
        quiet.logLevel = max(log.logLevel, .notice)
        let server = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(connections)),
            onServerRunning: { [log] listening in
                log.notice(
                    "pushes are taken",
                    metadata: ["address": "\(listening.localAddress.map { "\($0)" } ?? "unknown")"])
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        do {
            try await server.run()
        } catch let error as IOError {
            throw PushServerError(address: address, reason: "\(error)")
        }
    }
}

/// Why pushes cannot be taken.
package struct PushServerError: Error, CustomStringConvertible {
    let address: ListenAddress
    let reason: String

    package var description: String { "pushes cannot be taken on \(address.host) port \(address.port): \(reason)" }
}
