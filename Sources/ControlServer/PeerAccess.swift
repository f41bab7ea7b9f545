import Glibc
import Logging
import NIOCore

/// Who may use the control socket: root, and the user whom the agent runs as.
///
/// The file's mode keeps others out already; this also holds where someone widened it.
struct PeerAccess: Sendable {
    /// `SO_PEERCRED` of socket(7): the peer's `struct ucred` at the time of its connect.
    private typealias Credentials = (pid: Int32, uid: UInt32, gid: UInt32)

    let log: Logger
    private let owner = geteuid()

    init(log: Logger) { self.log = log }

    func admits(_ channel: any Channel) async -> Bool {
        guard let peer = await credentials(of: channel) else {
            log.error("the peer of a control connection is not known; it was refused")
            return false
        }
        guard peer.uid == 0 || peer.uid == owner else {
            log.warning(
                "a control connection was refused", metadata: ["uid": "\(peer.uid)", "pid": "\(peer.pid)"])
            return false
        }
        return true
    }

    private func credentials(of channel: any Channel) async -> Credentials? {
        guard let options = channel as? any SocketOptionProvider else { return nil }
        let option = NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        let read: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(level: .socket, name: option)
        return try? await read.get()
    }
}
