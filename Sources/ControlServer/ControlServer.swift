package import Authenticator
import Control
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The control API on a Unix socket.
package struct ControlServer: Sendable {
    /// Connections at a time; more wait in the backlog.
    private static let mostConnections = 256
    /// An idle connection is closed after this.
    private static let idleTimeout = TimeAmount.seconds(60)
    private static let headerLimits = HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: 8_192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 64)

    private let path: String
    private let access: PeerAccess
    private let router: ControlRouter
    private let log: Logger
    private let onListening: @Sendable () async -> Void

    /// - Parameters:
    ///   - path: the socket's, at most 107 octets; an abandoned socket there is replaced.
    ///   - onListening: called once calls are taken.
    package init(
        agent: Agent, path: String, log: Logger, onListening: @escaping @Sendable () async -> Void
    ) {
        self.path = path
        self.log = log
        self.onListening = onListening
        access = PeerAccess(log: log)
        router = ControlRouter(calls: ControlCalls(agent: agent, log: log), log: log)
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Throws: ``ControlServerError`` where the socket is taken.
    package func run() async throws {
        guard await !isTaken() else { throw ControlServerError.taken(path: path) }
        let channel = HTTP1Channel(
            responder: { [router, access] request, writer, channel in
                try await respond(to: request, writer, channel, router, access)
            },
            configuration: .init(idleTimeout: Self.idleTimeout, httpDecoderConfiguration: Self.headerLimits))
        var quiet = log
        quiet.logLevel = max(log.logLevel, .notice)
        let server = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: .unixDomainSocket(path: path), serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.mostConnections)),
            onServerRunning: { [onListening] _ in await onListening() },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        try await server.run()
    }

    /// Whether someone answers on the socket: then it is not ours to replace.
    private func isTaken() async -> Bool {
        let connection = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(unixDomainSocketPath: path).get()
        try? await connection?.close()
        return connection != nil
    }
}

/// Why the control socket cannot be served.
package enum ControlServerError: Error, CustomStringConvertible {
    case taken(path: String)

    package var description: String {
        switch self {
        case .taken(let path): "another process listens on the control socket \(path)"
        }
    }
}

private func respond(
    to request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel, _ router: ControlRouter,
    _ access: PeerAccess
) async throws {
    let answer =
        await access.admits(channel)
        ? await router.answer(to: request)
        : .problem(ControlError(.forbidden, "only root and the user whom the agent runs as may use this socket"))
    let response = answer.response
    try await writer.write(response: response.head, body: response.body)
}
