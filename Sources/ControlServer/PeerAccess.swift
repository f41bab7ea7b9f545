import Authenticator
import Glibc
import Logging
import NIOCore

/// Who may use the control socket: root, and the user whom the agent runs as.
///
/// The file's mode keeps others out already; this also holds where someone widened it.
struct PeerAccess: Sendable {
    /// `SO_PEERCRED` of socket(7): the peer's `struct ucred` at the time of its connect.
    private typealias Credentials = (pid: Int32, uid: UInt32, gid: UInt32)

    private let agent: Agent
    private let log: Logger
    private let owner = geteuid()

    init(agent: Agent, log: Logger) {
        self.agent = agent
        self.log = log
    }

    /// Who connected; nil for one that may not.
    func admitted(_ channel: any Channel) async -> ConnectionTable.Peer? {
        guard let credentials = await credentials(of: channel) else {
            // Also one that was gone before it could be asked.
            log.debug("the peer of a control connection is not known; it was refused")
            return nil
        }
        let peer = ConnectionTable.Peer(uid: credentials.uid, pid: credentials.pid)
        guard peer.uid == 0 || peer.uid == owner else {
            warn("a control connection was refused", about: peer)
            return nil
        }
        return peer
    }

    /// Tells of a peer that has so many connections that one of them was closed for another.
    func noteCrowd(_ peer: ConnectionTable.Peer) {
        warn("all places on the control socket were taken; a connection was closed for another", about: peer)
    }

    /// One line per user and minute: a peer cannot fill the log.
    private func warn(_ sentence: Logger.Message, about peer: ConnectionTable.Peer) {
        guard let leftOut = agent.admitLogLine(about: "uid \(peer.uid)") else { return }
        var metadata: Logger.Metadata = ["uid": "\(peer.uid)", "pid": "\(peer.pid)"]
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        log.warning(sentence, metadata: metadata)
    }

    private func credentials(of channel: any Channel) async -> Credentials? {
        guard let options = channel as? any SocketOptionProvider else { return nil }
        let option = NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        let read: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(level: .socket, name: option)
        return try? await read.get()
    }
}
