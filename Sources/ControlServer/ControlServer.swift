package import Authenticator
import Control
import Glibc
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
    ///   - path: the socket's, at most 103 octets; an abandoned socket there is replaced.
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
    /// - Throws: ``ControlServerError`` where the socket is taken or cannot be made.
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
            onServerRunning: { [self] _ in
                makePrivate()
                await onListening()
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        do {
            try await server.run()
        } catch {
            throw ControlServerError(error, path: path) ?? error
        }
    }

    /// Leaves 0600 of the 0700 that the umask leaves.
    private func makePrivate() {
        guard unsafe chmod(path, 0o600) != 0 else { return }
        log.warning("the control socket's mode could not be set", metadata: ["path": "\(path)", "errno": "\(errno)"])
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
    case unusable(path: String, reason: String)

    /// Nil for an error that is not about the socket's path.
    init?(_ error: any Error, path: String) {
        switch error {
        case let error as IOError:
            // glibc keeps the text per thread (strerror(3)), and it is copied at once.
            let text = unsafe String(cString: strerror(error.errnoCode))
            self = .unusable(path: path, reason: "\(text); check its directory")
        case is UnixDomainSocketPathWrongType:
            self = .unusable(path: path, reason: "something that is not a socket stands there")
        case SocketAddressError.unixDomainSocketPathTooLong:
            self = .unusable(path: path, reason: "its path is too long; choose a shorter one")
        default: return nil
        }
    }

    package var description: String {
        switch self {
        case .taken(let path): "another process listens on the control socket \(path)"
        case .unusable(let path, let reason): "the control socket \(path) cannot be made: \(reason)"
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
