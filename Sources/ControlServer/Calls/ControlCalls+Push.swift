import Authenticator
import Control
import ThreeDS

extension ControlCalls {
    func rotatePush(_ command: PushRotateCommand, by peer: ControlPeer) async throws -> Answer {
        let enrollment = try await id(of: command.enrollment)
        let open = try await quota.run(.rotatePush, by: peer.uid, countsAlways: true) {
            try await agent.rotatePush(enrollment) { try await agent.note(.rotatePush, by: peer, about: enrollment) }
        }
        return try .json(PushRotatedView(open: open.map(\.text)))
    }
}

extension PushView {
    init(_ facts: PushFacts) {
        self.init(
            works: facts.works, lastPush: facts.lastPush.map(UTCTime.text), lastPoll: facts.lastPoll.map(UTCTime.text),
            firstByPush: facts.firstByPush, firstByPoll: facts.firstByPoll, duplicates: facts.duplicates,
            refused: facts.refused, latency: facts.latency.map { Int($0) })
    }
}
