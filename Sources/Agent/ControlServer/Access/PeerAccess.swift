import Authenticator
import Glibc
import Logging
import NIOCore

/// The process at the other end of a connection, with its right.
struct Caller: Sendable {
    /// The peer's credentials (SO_PEERCRED).
    struct Peer: Hashable {
        let uid: UInt32
        let pid: Int32

        /// The user first, then the process.
        var owners: [Owner] { [.user(uid), .process(self)] }
    }

    /// The owner of places of calls and connections.
    enum Owner: Hashable {
        case user(UInt32)
        case process(Peer)
    }

    let peer: Peer
    let gid: UInt32
    let right: ControlRight
    /// Whether places are reserved for the peer, because it is root or the agent's own user.
    let isFavoured: Bool
}

/// Finds the peers of the control socket, and their rights.
///
/// The mode of the socket's file keeps other users out already. This check works also if an operator has widened the
/// mode.
struct PeerAccess: Sendable {
    private let agent: Agent
    private let access: ControlAccess
    private let log: Logger
    private let owner = geteuid()

    init(agent: Agent, access: ControlAccess, log: Logger) {
        self.agent = agent
        self.access = access
        self.log = log
    }

    /// The peer of a connection, or `nil` if the kernel does not give its credentials.
    func caller(_ channel: any Channel) async -> Caller? {
        guard let credentials = await credentials(of: channel) else {
            // Includes a peer that had closed the connection before this read.
            log.debug("the peer of a control connection is not known; it was refused")
            return nil
        }
        return Caller(
            peer: Caller.Peer(uid: credentials.uid, pid: credentials.pid), gid: credentials.gid,
            right: access.right(of: credentials, owner: owner),
            isFavoured: credentials.uid == 0 || credentials.uid == owner)
    }

    /// Logs that a peer has too many connections: one of them was closed for another peer.
    func noteCrowd(_ peer: Caller.Peer) {
        warn("all places on the control socket were taken; a connection was closed for another", about: peer)
    }

    /// Logs that a peer made a call without the right for it.
    func noteRefusal(_ caller: Caller) {
        warn("a call on the control socket was refused: its user may not do it", about: caller.peer)
    }

    /// Logs one line per user and minute, so that a peer cannot fill the log.
    private func warn(_ sentence: Logger.Message, about peer: Caller.Peer) {
        guard let leftOut = agent.admitLogLine(about: "uid \(peer.uid)") else { return }
        var metadata: Logger.Metadata = ["uid": "\(peer.uid)", "pid": "\(peer.pid)"]
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        log.warning(sentence, metadata: metadata)
    }

    private func credentials(of channel: any Channel) async -> PeerCredentials? {
        let read = channel.eventLoop.submit {
            try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                PeerCredentials(of: $0)
            }
        }
        return try? await read.get() ?? nil
    }
}
