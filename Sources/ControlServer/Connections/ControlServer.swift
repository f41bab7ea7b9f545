package import Authenticator
import Control
import Glibc
import HTTPServing
import HummingbirdCore
import LinuxProcess
package import Logging
import NIOCore
import NIOPosix

/// The control API on a Unix socket.
package struct ControlServer: Sendable {
    /// Connections that are taken before others are closed for them; more wait in the backlog.
    private static let spareConnections = 16 + ControlChannel.maxStrangers

    private let path: String
    private let access: ControlAccess
    private let connections: Int
    private let channel: ControlChannel
    private let calls: ControlCalls
    private let version: String
    private let log: Logger
    private let onListening: @Sendable () async -> Void

    /// - Parameters:
    ///   - path: the socket's, at most 103 bytes; an abandoned socket there is replaced.
    ///   - onListening: called once calls are taken.
    package init(
        agent: Agent, copier: any StateCopier, cardholders: (any CardholderControl)? = nil, path: String,
        access: ControlAccess = .init(), bounds: ControlBounds,
        log: Logger,
        onListening: @escaping @Sendable () async -> Void
    ) {
        self.path = path
        self.access = access
        let connections = FileLimit.connections(bounds.connections)
        self.connections = connections
        version = agent.settings.version
        self.log = log
        self.onListening = onListening
        let peerAccess = PeerAccess(agent: agent, access: access, log: log)
        calls = ControlCalls(agent: agent, copier: copier, cardholders: cardholders, log: log)
        channel = ControlChannel(
            router: ControlRouter(calls: calls, access: peerAccess, maxBodyBytes: bounds.bodyBytes, log: log),
            access: peerAccess,
            places: ControlPlaces(limit: connections, maxUnread: ControlBounds.unreadBytes),
            patience: .seconds(Int64(bounds.patience)),
            headers: .init(
                maxHeaderFieldSize: bounds.headerBytes / 2, maxHeaderListSize: bounds.headerBytes,
                maxHeaderFieldCount: ControlBounds.headerFields))
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Throws: ``ControlServerError`` if the socket is taken or cannot be made.
    package func run() async throws {
        try await expectFree()
        // It is cancelled when this returns.
        async let _: Void = calls.sendEvents()
        let listener = HTTPListener(
            .unixDomainSocket(path: path), serverName: "oob-agent/\(version)",
            connections: connections + Self.spareConnections, log: log)
        do {
            try await listener.run(channel) { _ in
                setMode()
                await onListening()
            }
        } catch {
            throw ControlServerError(error, path: path) ?? error
        }
    }

    /// Leaves 0600 of the 0700 that the umask leaves, or 0660 once it has its group.
    private func setMode() {
        var mode: mode_t = 0o600
        if let group = access.group {
            if hasGroup(group) { mode = 0o660 } else { say(unset: "group") }
            lookAtDirectory(group)
        }
        if unsafe chmod(path, mode) != 0 { say(unset: "mode") }
    }

    /// If the group is the process's own, there is nothing to change: a service may be forbidden to.
    private func hasGroup(_ group: UInt32) -> Bool {
        unsafe FileGroup(of: path)?.id == group || chown(path, uid_t.max, group) == 0
    }

    /// Its mode is not the agent's to change: it may be anybody's.
    private func lookAtDirectory(_ group: UInt32) {
        // With the slash at its end a symbolic link is followed.
        let end = path.lastIndex(of: "/").map { path[...$0] } ?? "./"
        guard let directory = FileGroup(of: String(end)), !directory.letsThrough(group) else { return }
        log.warning("the control socket's group cannot get to it: let it through", metadata: ["directory": "\(end)"])
    }

    private func say(unset part: String) {
        log.warning(
            "the control socket could not be given to its users",
            metadata: ["part": "\(part)", "path": "\(path)", "errno": "\(errno)"])
    }

    /// Sees that nobody listens on the socket: else it is not ours to replace.
    ///
    /// Only a socket that refuses is abandoned. One whose queue is full has an agent that is busy, or was stopped.
    ///
    /// - Throws: ``ControlServerError``.
    private func expectFree() async throws {
        let connection: any Channel
        do {
            connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: path).get()
        } catch let error as IOError where [ECONNREFUSED, ENOENT].contains(error.errnoCode) {
            return
        } catch let error as IOError where error.errnoCode == EAGAIN {
            throw ControlServerError.taken(path: path)
        } catch {
            throw ControlServerError(error, path: path) ?? error
        }
        try? await connection.close()
        throw ControlServerError.taken(path: path)
    }
}

/// Why the control socket cannot be served.
package enum ControlServerError: Error, CustomStringConvertible {
    case taken(path: String)
    case unusable(path: String, reason: String)
    /// No socket can be there, however often it is tried.
    case misplaced(path: String, reason: String)

    private static let lasting = [ENOENT, ENOTDIR, EACCES, EPERM, EROFS, ELOOP]

    /// Nil for an error that is not about the socket's path.
    init?(_ error: any Error, path: String) {
        switch error {
        case let error as IOError:
            self =
                Self.lasting.contains(error.errnoCode)
                ? .misplaced(
                    path: path, reason: "\(error.text); make its directory, or choose another path with socket")
                : .unusable(path: path, reason: "\(error.text); check its directory")
        case is UnixDomainSocketPathWrongType:
            self = .misplaced(path: path, reason: "something that is not a socket stands there")
        case SocketAddressError.unixDomainSocketPathTooLong:
            self = .misplaced(path: path, reason: "its path is too long; choose a shorter one")
        default: return nil
        }
    }

    package var description: String {
        switch self {
        case .taken(let path): "another process listens on the control socket \(path)"
        case .unusable(let path, let reason), .misplaced(let path, let reason):
            "the control socket \(path) cannot be made: \(reason)"
        }
    }
}

/// What a client of the control socket may take.
package struct ControlBounds: Sendable {
    /// Connections at a time, within `FileLimit`; past it another one is closed for each newcomer.
    package var connections = 256
    /// Seconds for a client to send a whole head, a whole body, or to read an answer; then it is cut.
    package var patience = 10
    /// All header fields of a request together; one has at most half of it.
    package var headerBytes = 16_384
    /// The body of a request.
    package var bodyBytes = ControlJSON.maxCommandBytes

    package static let standard = ControlBounds()

    /// The header fields of a request.
    static let headerFields = 64
    /// What clients leave unread of their answers, all together: eight of the longest.
    static let unreadBytes = 8 * ControlJSON.maxAnswerBytes

    package init() {}
}
