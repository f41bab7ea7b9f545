package import Authenticator
import Control
import Glibc
package import HTTPServing
import HummingbirdCore
package import LinuxProcess
package import Logging
import NIOCore
import NIOPosix
package import Records

/// The control API on a Unix socket.
package struct ControlServer: Sendable {
    /// Connections that are accepted before others are closed for them; more wait in the backlog.
    private static let spareConnections = 16 + ControlChannel.maxRefusedPeers
    /// The seconds between two checks of the socket's file.
    private static let pause: Double = 10

    private let agent: Agent
    private let path: String
    private let access: ControlAccess
    private let looks: SocketLooks
    private let clock: any AgentClock
    private let connections: Int
    private let channel: ControlChannel
    private let calls: ControlCalls
    private let version: String
    private let log: Logger
    private let onListening: @Sendable () async -> Void

    /// - Parameters:
    ///   - path: the socket's path, at most 103 bytes. An abandoned socket there is replaced.
    ///   - looks: requests checks of the socket's file between the usual times.
    ///   - clock: for the time between two checks, and for backups.
    ///   - onListening: called once the server accepts calls.
    package init(
        agent: Agent, copier: any StateCopier, cardholders: (any CardholderControl)? = nil, path: String,
        access: ControlAccess = .init(), bounds: ControlBounds = .standard, looks: SocketLooks, clock: any AgentClock,
        log: Logger,
        onListening: @escaping @Sendable () async -> Void
    ) {
        self.agent = agent
        self.path = path
        self.access = access
        self.looks = looks
        self.clock = clock
        let connections = FileLimit.connections(bounds.connections)
        self.connections = connections
        version = agent.settings.version
        self.log = log
        self.onListening = onListening
        let peerAccess = PeerAccess(agent: agent, access: access, log: log)
        calls = ControlCalls(agent: agent, copier: copier, cardholders: cardholders, clock: clock, log: log)
        channel = ControlChannel(
            router: ControlRouter(calls: calls, access: peerAccess, log: log),
            access: peerAccess,
            places: ControlPlaces(limit: connections, maxUnread: ControlBounds.unreadBytes),
            patience: .seconds(Int64(bounds.patience)),
            headers: .init(
                maxHeaderFieldSize: ControlBounds.headerBytes / 2, maxHeaderListSize: ControlBounds.headerBytes,
                maxHeaderFieldCount: ControlBounds.headerFields))
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Throws: ``ControlServerError`` if the socket is in use or cannot be made.
    package func run() async throws {
        let place: SocketPlace
        do throws(SocketPlaceError) {
            place = try SocketPlace.claim(path)
        } catch { throw ControlServerError(error, path: path) }
        defer { place.release() }
        if let group = access.group { lookAtDirectory(group) }
        // Both are cancelled when this returns.
        async let _: Void = calls.sendEvents()
        async let _: Void = looks.ask { try await clock.sleep(seconds: Self.pause) }
        let listener = UnixListener(
            place, group: access.group,
            listener: HTTPListener(
                .unixDomainSocket(path: path), serverName: "oob-agent/\(version)",
                connections: connections + Self.spareConnections, log: log)
        ) { [log, path] part, errno in
            log.warning(
                "the control socket could not be given to its users",
                metadata: ["part": "\(part)", "path": "\(path)", "errno": "\(errno)"])
        }
        do {
            try await listener.serve(channel, looks: looks, onListening: onListening) { report($0) }
        } catch {
            throw ControlServerError(listening: error, path: path) ?? error
        }
    }

    /// Logs a change of the socket's file, and reports it in the agent's status.
    private func report(_ change: UnixListener.Change) {
        let problem: String? =
            switch change {
            case .madeAnew, .recovered: nil
            case .lost(let error): "\(ControlServerError(error, path: path))"
            case .unusable(let reason): "the control socket \(path) cannot be made: \(reason)"
            }
        agent.processTroubles.set(problem.map { "the control socket was removed or replaced: \($0)" }, for: .socket)
        switch problem {
        case let problem?:
            log.error(
                "the control socket was removed or replaced, and nobody can connect", metadata: ["reason": "\(problem)"]
            )
        case nil where change == .madeAnew:
            log.warning("the control socket was removed, and was made anew", metadata: ["path": "\(path)"])
        case nil: log.notice("the control socket is in its place again", metadata: ["path": "\(path)"])
        }
    }

    /// Only warns about the directory's mode: the directory may belong to others, so the agent does not change it.
    private func lookAtDirectory(_ group: UInt32) {
        // The slash at the end makes the check follow a symbolic link.
        let end = path.lastIndex(of: "/").map { path[...$0] } ?? "./"
        guard let directory = FileGroup(of: String(end)), !directory.letsThrough(group) else { return }
        log.warning("the control socket's group cannot get to it: let it through", metadata: ["directory": "\(end)"])
    }
}

/// The reason why the control socket cannot be served.
package enum ControlServerError: Error, CustomStringConvertible {
    case taken(path: String)
    case unusable(path: String, reason: String)
    /// No socket can be made there, even after further tries.
    case misplaced(path: String, reason: String)
    /// Other users control its directory.
    case insecure(path: String, reason: String)

    private static let lasting = [ENOENT, ENOTDIR, EACCES, EPERM, EROFS, ELOOP, EMLINK, ENAMETOOLONG]

    package init(_ error: SocketPlaceError, path: String) {
        switch error {
        case .taken: self = .taken(path: path)
        case .noSocket: self = .misplaced(path: path, reason: "something that is not a socket stands there")
        case .insecure(let directory, let problem):
            self = .insecure(
                path: path,
                reason: "its directory \(directory) \(problem), and the agent runs as root: choose another one with "
                    + "socket, or run the agent as another user")
        case .system(let error): self.init(error.errno, "\(error)", path: path)
        }
    }

    /// Returns `nil` for an error that is not about the socket's path.
    init?(listening error: any Error, path: String) {
        switch error {
        case let error as IOError: self.init(error.errnoCode, error.text, path: path)
        case is UnixDomainSocketPathWrongType: self.init(.noSocket, path: path)
        case SocketAddressError.unixDomainSocketPathTooLong:
            self = .misplaced(path: path, reason: "its path is too long; choose a shorter one")
        default: return nil
        }
    }

    private init(_ errno: CInt, _ text: String, path: String) {
        self =
            Self.lasting.contains(errno)
            ? .misplaced(path: path, reason: "\(text); make its directory, or choose another path with socket")
            : .unusable(path: path, reason: "\(text); check its directory")
    }

    package var description: String {
        switch self {
        case .taken(let path): "another process listens on the control socket \(path)"
        case .unusable(let path, let reason), .misplaced(let path, let reason), .insecure(let path, let reason):
            "the control socket \(path) cannot be made: \(reason)"
        }
    }
}

/// Limits for the clients of the control socket; tests set other values.
package struct ControlBounds: Sendable {
    /// Connections at a time, within `FileLimit`; for each one more, another is closed.
    package var connections = 256
    /// Seconds for a client to send a whole head or a whole body, or to read an answer; then it is cut.
    package var patience = 10

    package static let standard = ControlBounds()

    /// Bytes of all header fields of a request; one field may have half of it.
    static let headerBytes = 16_384
    /// The header fields of a request.
    static let headerFields = 64
    /// Unread bytes of the answers to all clients together: eight of the longest answers.
    static let unreadBytes = 8 * ControlJSON.maxAnswerBytes

    package init() {}
}
