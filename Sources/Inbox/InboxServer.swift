package import Control
package import HTTPServing
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import PageServing
import ServiceLifecycle
import UnixSignals

/// The page of an agent's requests, on a port of the loopback.
package struct InboxServer: Sendable {
    /// How long an orderly stop may take.
    private static let patience: Duration = .milliseconds(1_500)
    /// How long a connection may be silent.
    ///
    /// A stream of events is not: it has something every 5 seconds.
    private static let idle = TimeAmount.seconds(30)

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
            server: .http1(configuration: .init(idleTimeout: Self.idle)),
            configuration: .init(address: .hostname(listen.host, port: listen.port), serverName: nil),
            onServerRunning: { channel in
                // By its address: another user of the machine may listen on the same port of another one, and a browser
                // that looks `localhost` up may go there, with the token.
                guard let bound = channel.localAddress, let port = bound.port, let address = bound.ipAddress else {
                    return
                }
                let host = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
                let sessions = Sessions(port: port)
                let show: @Sendable () -> Void = { onLink("http://\(host)/enter?token=\(sessions.link)") }
                holder.set(
                    InboxResponder(
                        agent: agent, mayDecide: mayDecide, sessions: sessions, guarding: PageGuard(hosts: [host]),
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
