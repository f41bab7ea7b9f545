import Authenticator
import HummingbirdCore
import Logging
import NIOCore

extension ControlCalls {
    /// The copy is taken before the first octet goes out, so that what hinders it is answered as any other error.
    func backup(for client: ControlConnection) async throws -> Answer {
        try await agent.note(.backup, by: ControlPeer(client.caller))
        let copy = try await client.whileThere { try await copier.copy() }
        return Answer(contentType: "application/x-tar") { writer in
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
