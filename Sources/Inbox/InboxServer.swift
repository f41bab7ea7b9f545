package import Control
package import HTTPServing
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The page of an agent's requests, on a port of the loopback.
package struct InboxServer: Sendable {
    /// How long an orderly stop may take.
    private static let patience: Duration = .milliseconds(1_500)

    private let agent: InboxAgent
    private let listen: ListenAddress
    private let mayDecide: Bool
    private let logger: Logger

    /// - Parameters:
    ///   - agent: makes a client of the control socket; called for each page, so that an agent that comes back is found.
    ///   - listen: on the loopback.
    ///   - mayDecide: whether the page has buttons; without them it only shows.
    package init(
        agent: @escaping @Sendable () throws(ClientError) -> ControlClient, listen: ListenAddress, mayDecide: Bool,
        logger: Logger
    ) {
        self.agent = InboxAgent(client: agent)
        self.listen = listen
        self.mayDecide = mayDecide
        self.logger = logger
    }

    /// Serves until SIGTERM or SIGINT.
    ///
    /// - Parameter onLink: gets the link that works next: at first once calls are taken, and whenever one was used.
    /// - Throws: what `listen` cannot be listened on for.
    package func run(onLink: @escaping @Sendable (String) -> Void) async throws {
        let holder = ResponderHolder()
        let (agent, mayDecide) = (agent, mayDecide)
        let application = Application(
            responder: HeldResponder(holder: holder),
            configuration: .init(address: .hostname(listen.host, port: listen.port), serverName: nil),
            onServerRunning: { [listen] channel in
                let port = channel.localAddress?.port ?? listen.port
                let sessions = Sessions()
                let show: @Sendable () -> Void = { onLink("http://localhost:\(port)/enter?token=\(sessions.link)") }
                holder.set(
                    InboxResponder(
                        agent: agent, mayDecide: mayDecide, sessions: sessions, guarding: Guard(port: port),
                        onLinkUsed: show))
                show()
            },
            logger: logger)
        var services = ServiceGroupConfiguration(
            services: [application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        services.maximumGracefulShutdownDuration = Self.patience
        try await ServiceGroup(configuration: services).run()
    }
}
