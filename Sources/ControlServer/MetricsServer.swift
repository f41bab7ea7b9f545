package import Authenticator
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// An address that only this machine reaches; port 0 is the system's choice.
package struct LoopbackAddress: Sendable {
    let host: String
    let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

/// Gives the metrics, and nothing else, to whoever asks on this machine.
package struct MetricsServer: Sendable {
    /// Connections at a time; more wait until one is closed.
    private static let connections = 16

    private let channel: MetricsChannel
    private let address: LoopbackAddress
    private let log: Logger

    package init(_ agent: Agent, _ address: LoopbackAddress, log: Logger) {
        channel = MetricsChannel(agent: agent)
        self.address = address
        self.log = log
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Throws: ``MetricsServerError`` where the address cannot be listened on.
    package func run() async throws {
        var quiet = log
        quiet.logLevel = .notice
        let server = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connections)),
            onServerRunning: { [log] listening in
                log.notice(
                    "metrics are given",
                    metadata: ["address": "\(listening.localAddress.map { "\($0)" } ?? "unknown")"])
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        do {
            try await server.run()
        } catch let error as IOError {
            throw MetricsServerError(address: address, reason: "\(error)")
        }
    }
}

/// Why metrics cannot be given.
package struct MetricsServerError: Error, CustomStringConvertible {
    let address: LoopbackAddress
    let reason: String

    package var description: String { "metrics cannot be given on \(address.host) port \(address.port): \(reason)" }
}
