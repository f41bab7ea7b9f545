package import Authenticator
import Glibc
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
    /// Nil: plain HTTP.
    private let identity: LiveIdentity?
    private let connections: Int
    private let log: Logger

    /// - Parameter identity: nil: plain HTTP, for loopback or a proxy in front.
    package init(
        reception: PushReception, address: ListenAddress, identity: ServerIdentity?, bounds: PushBounds, log: Logger
    ) {
        channel = PushChannel(responder: PushResponder(reception: reception), bounds: bounds)
        self.address = address
        self.identity = identity.map(LiveIdentity.init)
        connections = bounds.connections
        self.log = log
    }

    /// Shows another certificate from the next connection on; nothing where the server speaks plain HTTP.
    package func use(_ identity: ServerIdentity) { self.identity?.replace(by: identity) }

    /// Serves until a graceful shutdown.
    ///
    /// - Parameter onListening: called once pushes are taken.
    /// - Throws: ``PushServerError`` where the address cannot be listened on.
    package func run(onListening: @escaping @Sendable () -> Void = {}) async throws {
        guard let identity else { return try await serve(channel, onListening) }
        try await serve(try TLSChannel(channel, tlsConfiguration: identity.configuration), onListening)
    }

    private func serve(_ channel: some ServerChildChannel, _ onListening: @escaping @Sendable () -> Void) async throws {
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
                onListening()
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        do {
            try await server.run()
        } catch let error as IOError {
            // glibc keeps the text per thread (strerror(3)), and it is copied at once.
            let text = unsafe String(cString: strerror(error.errnoCode))
            throw PushServerError(address: address, reason: text, isForbidden: error.errnoCode == EACCES)
        }
    }
}

/// Why pushes cannot be taken.
package struct PushServerError: Error, CustomStringConvertible {
    let address: ListenAddress
    let reason: String
    /// Ports below 1024 take a privilege.
    package let isForbidden: Bool

    package var description: String {
        "pushes cannot be taken on \(address.host) port \(address.port): \(reason); choose another with push-listen"
            + (isForbidden ? ", or add the drop-in low-port.conf to the unit" : "")
    }
}
