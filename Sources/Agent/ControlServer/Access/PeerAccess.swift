import Authenticator
import Glibc
import Logging
import NIOCore

/// One end of a connection: a process, and what it may do.
struct Caller: Sendable {
    /// The peer's credentials, as the kernel says (SO_PEERCRED).
    struct Peer: Hashable {
        let uid: UInt32
        let pid: Int32

        /// The outermost first.
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
    /// Whether it is root or the agent's own user, for whom places are kept.
    let isFavoured: Bool
}

/// Tells who connected to the control socket, and what they may do there.
///
/// The file's mode keeps others out already; this also holds if someone widened it.
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

    /// Who connected; nil if the kernel does not tell.
    func caller(_ channel: any Channel) async -> Caller? {
        guard let credentials = await credentials(of: channel) else {
            // Also one that was gone before it could be asked.
            log.debug("the peer of a control connection is not known; it was refused")
            return nil
        }
        return Caller(
            peer: Caller.Peer(uid: credentials.uid, pid: credentials.pid), gid: credentials.gid,
            right: access.right(of: credentials, owner: owner),
            isFavoured: credentials.uid == 0 || credentials.uid == owner)
    }

    /// Tells of a peer that has so many connections that one of them was closed for another.
    func noteCrowd(_ peer: Caller.Peer) {
        warn("all places on the control socket were taken; a connection was closed for another", about: peer)
    }

    /// Tells of a peer that asked for what it may not do.
    func noteRefusal(_ caller: Caller) {
        warn("a call on the control socket was refused: its user may not do it", about: caller.peer)
    }

    /// One line per user and minute: a peer cannot fill the log.
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
