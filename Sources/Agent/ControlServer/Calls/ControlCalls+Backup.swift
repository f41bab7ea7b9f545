import Authenticator
import Control
import HummingbirdCore
import Journal
import Logging
import NIOCore
import Records
import Threads

extension ControlCalls {
    /// The copy is taken before the first byte goes out, so that what hinders it is answered as any other error.
    func backup(for client: ControlConnection) async throws -> Answer {
        let peer = ControlPeer(client.caller)
        let turn = try backupTurns.begin(for: client.caller, size: copier.size)
        let copy = try await quota.run(.backup, by: peer.uid, countsAlways: true) {
            try await makeCopy(for: client, by: peer, in: turn)
        }
        return Answer(contentType: ControlRoute.backup.mediaType) { writer in
            turn.whenCut { client.cut() }
            do {
                for try await piece in copy {
                    client.waitForClient(unread: piece.count)
                    try await writer.write(ByteBuffer(bytes: piece))
                    client.work()
                }
                turn.complete()
            } catch {
                if turn.end == .taken { backupTurns.giveBack(to: client.caller) }
                log.error("a backup was cut off", metadata: ["reason": "\(turn.refusal?.message ?? "\(error)")"])
                throw error
            }
        }
    }

    private func makeCopy(
        for client: ControlConnection, by peer: ControlPeer, in turn: BackupTurn
    ) async throws -> any AsyncSequence<[UInt8], any Error> & Sendable {
        do {
            // It would take the room that is left for decisions.
            if let trouble = agent.storeError, trouble.kind == .full { throw trouble }
            let copy = try await turn.run {
                try await client.whileThere { try await OwnThread.runAtLowPriority { try await copier.copy() } }
            }
            // Only now is it known that there is one; nothing of it has left.
            try await agent.note(.backup, by: peer)
            return copy
        } catch {
            // Whoever hangs up has had the work done, and with each try that finds the disk too small it is full for a
            // time.
            let isFull = (error as? StoreError)?.kind == .full
            let isSpent = error is ControlConnection.HungUpError || error is CancellationError || isFull
            if !isSpent { backupTurns.giveBack(to: client.caller) }
            guard error is CancellationError else { throw error }
            throw TooManyCallsError("the agent stops, and no backup was made", seconds: BackupTurns.pause, .tryLater)
        }
    }
}
