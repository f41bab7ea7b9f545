import Authenticator
import HummingbirdCore
import LinuxProcess
import Logging
import NIOCore

extension ControlCalls {
    /// The copy is taken before the first byte goes out, so that what hinders it is answered as any other error.
    func backup(for client: ControlConnection) async throws -> Answer {
        let peer = ControlPeer(client.caller)
        let copy = try await quota.run(.backup, by: peer.uid, countsAlways: true) {
            let copy = try await client.whileThere { try await LowPriorityThread.run { try await copier.copy() } }
            // Only now is it known that there is one; nothing of it has left.
            try await agent.note(.backup, by: peer)
            return copy
        }
        return Answer(contentType: "application/vnd.sqlite3") { writer in
            do {
                for try await piece in copy {
                    client.waitForClient(unread: piece.count)
                    try await writer.write(ByteBuffer(bytes: piece))
                    client.work()
                }
            } catch {
                log.error("a backup was cut off", metadata: ["reason": "\(error)"])
                throw error
            }
        }
    }
}
