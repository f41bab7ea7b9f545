package import Control
package import HTTPServing
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
package import PageServing
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Where a page is listened for.
package enum InboxAddress: Sendable, Equatable {
    /// On the loopback.
    case loopback(ListenAddress)
    /// On a Unix socket, behind a proxy that serves it as this origin, such as `https://inbox.example`.
    case socket(path: String, origin: PageOrigin)

    fileprivate var bound: BindAddress {
        switch self {
        case .loopback(let address): .hostname(address.host, port: address.port)
        case .socket(let path, _): .unixDomainSocket(path: path)
        }
    }

    fileprivate var text: String {
        switch self {
        case .loopback(let address): address.text
        case .socket(let path, _): path
        }
    }

    /// - Parameter text: the address that was taken, such as `127.0.0.1:8300`.
    fileprivate func origin(at text: String) -> PageOrigin {
        switch self {
        // By its address: another user of the machine may listen on the same port of another one, and a browser that looks
        // `localhost` up may go there, with the token.
        case .loopback: PageOrigin(scheme: "http", host: text)
        case .socket(_, let origin): origin
        }
    }
}

/// Why an address cannot be listened on, in a few words.
package struct InboxListenError: Error, Sendable, CustomStringConvertible {
    package let description: String
}

/// The page of an agent's requests, on the loopback or on a Unix socket.
package struct InboxServer: Sendable {
    /// How long an orderly stop may take.
    private static let patience: Duration = .milliseconds(1_500)
    private static let connections = 64
    /// For a call and its answer, and for the next call after it; events take as long as they take.
    private static let seconds = 30
    private static let header = PatientChannel.HeaderBounds(fieldBytes: 8_192, bytes: 16_384, fields: 64)

    private let agent: InboxAgent
    private let address: InboxAddress
    private let mayDecide: Bool
    private let logger: Logger

    /// - Parameters:
    ///   - agent: makes a client of the control socket; called for each page, so that an agent that comes back is found.
    ///   - mayDecide: whether the page has buttons; without them it only shows.
    package init(
        agent: @escaping @Sendable () throws(ClientError) -> ControlClient, at address: InboxAddress, mayDecide: Bool,
        logger: Logger
    ) {
        self.agent = InboxAgent(client: agent)
        self.address = address
        self.mayDecide = mayDecide
        self.logger = logger
    }

    /// Serves until SIGTERM or SIGINT.
    ///
    /// - Parameter onLink: gets the link that works next: at first once calls are taken, and whenever one was used.
    /// - Throws: ``InboxListenError`` if the address cannot be listened on.
    package func run(onLink: @escaping @Sendable (String) -> Void) async throws {
        let service = Service(server: self, onLink: onLink)
        var services = ServiceGroupConfiguration(
            services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
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
        let onLink: @Sendable (String) -> Void

        func run() async throws { try await server.serve(onLink) }
    }

    private func serve(_ onLink: @escaping @Sendable (String) -> Void) async throws {
        // The port is known once it is listened on; nobody is answered before.
        let responder = Mutex<InboxResponder?>(nil)
        let places = SourcePlaces(limit: Self.connections, isBehindProxy: true)
        let channel = PatientChannel(Self.header, seconds: Self.seconds, places: places) { request, peer in
            guard let responder = responder.withLock({ $0 }) else {
                return (Response(status: .serviceUnavailable), false)
            }
            return await responder.answer(to: request, from: peer)
        }
        let listener = HTTPListener(address.bound, places: places, log: logger)
        try await listener.run(channel) { [agent, address, mayDecide] text in
            let origin = address.origin(at: text)
            let sessions = Sessions(of: origin)
            let show: @Sendable () -> Void = { onLink("\(origin.text)/enter?token=\(sessions.link)") }
            responder.withLock {
                $0 = InboxResponder(
                    agent: agent, mayDecide: mayDecide, sessions: sessions, guarding: PageGuard([origin]),
                    onLinkUsed: show)
            }
            show()
        }
    }
}
