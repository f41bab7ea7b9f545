import Authenticator
import Control
import HummingbirdCore
import Journal
import Logging
import NIOCore
import Records
import Threads

extension ControlCalls {
    /// Makes the copy before the first byte is sent, so that a failure gets the usual error answer.
    func backup(for client: ControlConnection) async throws -> Answer {
        let peer = ControlPeer(client.caller)
        let turn = try backupTurns.begin(for: client.caller, size: copier.size)
        let copy = try await quota.counting(.backup, by: peer.uid, countsAlways: true) {
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
            // The copy would take the room that is left for decisions.
            if let trouble = agent.storeError, trouble.kind == .full { throw trouble }
            let copy = try await turn.withTurn {
                try await client.whileThere { try await OwnThread.runAtLowPriority { try await copier.copy() } }
            }
            // Recorded only now, when the copy exists. No byte of it has left yet.
            try await agent.recordCommand(.backup, by: peer)
            return copy
        } catch {
            // A client that hangs up has had the work done. A try that finds the disk too small has filled it for a
            // time. So both count.
            let isFull = (error as? StoreError)?.kind == .full
            let isSpent = error is ControlConnection.HungUpError || error is CancellationError || isFull
            if !isSpent { backupTurns.giveBack(to: client.caller) }
            guard error is CancellationError else { throw error }
            throw TooManyCallsError("the agent stops, and no backup was made", seconds: BackupTurns.pause, .tryLater)
        }
    }
}
