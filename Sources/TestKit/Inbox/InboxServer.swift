package import Control
package import HTTPServing
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import PageServing
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The reason why the inbox cannot listen on an address.
package struct InboxListenError: Error, Sendable, CustomStringConvertible {
    package let description: String
}

/// The server of the inbox page for an agent's requests, on a TCP port or a Unix socket.
package struct InboxServer: Sendable {
    /// The time limit of a graceful shutdown.
    private static let patience: Duration = .milliseconds(1_500)
    private static let connections = 64
    /// Seconds for a browser to send a request and to read its answer; making the answer has a limit of its own.
    static let seconds = 30
    /// Seconds for all answers of the agent that one page needs.
    static let pageSeconds = 70
    /// The template of every decision from the page.
    static var decideCommand: DecideCommand {
        var command = DecideCommand()
        command.deliveryTimeout = 5
        return command
    }
    /// Seconds for which the page waits for a decision of the agent.
    static var decisionSeconds: Int { ControlTimeout.decide(decideCommand) }
    /// The bounds of a request's header: 16 KiB for other servers' cookies, and the inbox's own fields.
    ///
    /// A browser sends a server the cookies of all servers on the same host.
    private static let header = PatientChannel.HeaderBounds(fieldBytes: 17_408, bytes: 32_768, fields: 64)

    private let agent: InboxAgent
    private let address: InboxAddress
    private let peers: PeerGate.Rule
    private let schemes: OpenSchemes
    private let mayDecide: Bool
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - agent: makes a client of the control socket. It is called for each page, so that a restarted agent is found.
    ///   - peers: the rule for the users whose connections are admitted.
    ///   - schemes: the URL schemes of return URLs that become links.
    ///   - mayDecide: whether the page has buttons; without them it only shows.
    ///   - now: a monotonic clock.
    package init(
        agent: @escaping @Sendable () throws(ClientError) -> ControlClient, at address: InboxAddress,
        peers: PeerGate.Rule, schemes: OpenSchemes, mayDecide: Bool, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.agent = InboxAgent(client: agent)
        self.address = address
        self.peers = peers
        self.schemes = schemes
        self.mayDecide = mayDecide
        self.logger = logger
        self.now = now
    }

    /// Serves until SIGTERM or SIGINT, and makes a new link at each SIGUSR1.
    ///
    /// - Parameters:
    ///   - asked: requests for a link from another source than SIGUSR1, such as a key.
    ///   - onLink: is called with each new valid link; the first comes once the server accepts calls.
    /// - Throws: ``InboxListenError`` if the server cannot listen on the address.
    package func serve(asked: AsyncStream<Void>, onLink: @escaping @Sendable (String) -> Void) async throws {
        let sessions = Sessions(now: now)
        // From here on no signal is lost, even if it comes before the first link.
        let signals = await UnixSignalsSequence(trapping: .sigusr1)
        let links = Links(sessions: sessions, signals: signals, asked: asked, show: onLink)
        let service = Service(server: self, sessions: sessions, links: links)
        var services = ServiceGroupConfiguration(
            services: [service, links], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        services.maximumGracefulShutdownDuration = Self.patience
        do {
            try await ServiceGroup(configuration: services).run()
        } catch let error as IOError {
            throw InboxListenError(description: "cannot listen on \(address.text): \(error.text)")
        } catch is UnixDomainSocketPathWrongType {
            throw InboxListenError(description: "cannot listen on \(address.text): it is there, and no socket")
        }
    }

    private struct Service: ServiceLifecycle.Service {
        let server: InboxServer
        let sessions: Sessions
        let links: Links

        func run() async throws { try await server.serve(sessions, links) }
    }

    private func serve(_ sessions: Sessions, _ links: Links) async throws {
        // The port is known once the server listens; before that it answers no request.
        let responder = Mutex<InboxResponder?>(nil)
        let places = SourcePlaces(limit: Self.connections, isBehindProxy: true)
        let gate = PeerGate(peers, log: logger) { Refusals.bytes(of: $0) }
        let channel = PatientChannel(
            Self.header, seconds: Self.seconds, places: places, gate: gate, unreadable: { Refusals.reply(to: $0) }
        ) { request, peer in
            guard let responder = responder.withLock({ $0 }) else {
                return (Response(status: .serviceUnavailable), false)
            }
            return await responder.answer(to: request, from: peer)
        }
        let listener = HTTPListener(address.bound, places: places, log: logger)
        let kinds = EnrollmentKinds(now: now) { [agent] () throws(ClientError) in
            try await agent.client().hasOnlyTests()
        }
        let reserved = Mutex<ReservedPort?>(nil)
        try await listener.serve(channel) { [agent, address, mayDecide, schemes, logger] taken in
            let origin = address.origin(at: taken)
            var isLocalhostOurs = true
            if address.isLoopback {
                let port = ReservedPort(besides: taken)
                isLocalhostOurs = port != nil
                reserved.withLock { $0 = port }
                if !isLocalhostOurs {
                    logger.warning(
                        "the name localhost is refused: another program has this port at its other address",
                        metadata: ["address": "\(taken)"])
                }
            }
            responder.withLock {
                $0 = InboxResponder(
                    agent: agent, mayDecide: mayDecide, sessions: sessions, kinds: kinds, origin: origin,
                    port: address.port(at: taken), isLocalhostOurs: isLocalhostOurs, schemes: schemes)
            }
            links.begin(at: origin)
        }
    }
}
