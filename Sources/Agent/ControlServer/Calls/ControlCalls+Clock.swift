import Authenticator
import Control
import Journal
import TextAndTime

extension ControlCalls {
    /// The agent's clock if it is a test clock, or `nil` if it is the machine's clock.
    var testClock: ClockView? { agent.clock.offset == nil ? nil : ClockView(agent.clock) }

    func advanceClock(_ command: ClockCommand, for peer: ControlPeer) async throws -> Answer {
        try .json(ClockView(try await agent.advanceClock(by: command.advance, for: peer)))
    }
}

extension ClockView {
    init(_ facts: ClockFacts) {
        self.init(
            isTest: facts.offset != nil, offsetSeconds: Int(facts.offset ?? 0), now: UTCTime.text(facts.now))
    }
}
