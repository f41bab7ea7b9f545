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

/// Why an address cannot be listened on, in a few words.
package struct InboxListenError: Error, Sendable, CustomStringConvertible {
    package let description: String
}

/// The page of an agent's requests, on a TCP port or on a Unix socket.
package struct InboxServer: Sendable {
    /// How long an orderly stop may take.
    private static let patience: Duration = .milliseconds(1_500)
    private static let connections = 64
    /// For a browser to send a call, and to read its answer; the answer itself takes as long as what it asks for.
    static let seconds = 30
    /// For all of the agent's answers that one page is made of.
    static let pageSeconds = 70
    /// The command that every decision of the page begins with.
    static var decideCommand: DecideCommand {
        var command = DecideCommand()
        command.deliveryTimeout = 5
        return command
    }
    /// The seconds that the page waits for a decision of the agent's.
    static var decisionSeconds: Int { ControlTimeout.decide(decideCommand) }
    /// A browser shows a server the cookies of all others of its host: 16 KiB of those, and the inbox's own.
    private static let header = PatientChannel.HeaderBounds(fieldBytes: 17_408, bytes: 32_768, fields: 64)

    private let agent: InboxAgent
    private let address: InboxAddress
    private let peers: PeerGate.Rule
    private let schemes: OpenSchemes
    private let mayDecide: Bool
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - agent: makes a client of the control socket; called for each page, so that an agent that comes back is found.
    ///   - peers: whose connections are let in.
    ///   - schemes: which return URLs are links.
    ///   - mayDecide: whether the page has buttons; without them it only shows.
    ///   - now: a clock that nobody sets.
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
    ///   - asked: asks for a link as SIGUSR1 does, such as by a key.
    ///   - onLink: gets the link that works from now on: the first once calls are taken.
    /// - Throws: ``InboxListenError`` if the address cannot be listened on.
    package func run(asked: AsyncStream<Void>, onLink: @escaping @Sendable (String) -> Void) async throws {
        let sessions = Sessions(now: now)
        // From here on the signal is not lost, also if it comes before the first link.
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
        // The port is known once it is listened on; nobody is answered before.
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
        try await listener.run(channel) { [agent, address, mayDecide, schemes, logger] taken in
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
