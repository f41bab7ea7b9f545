import Control
import Testing

@testable import ControlServer

@Suite struct AgentStateTests {
    @Test func `an agent is starting whatever is wrong, and then ready or degraded`() {
        let states = [(true, true), (true, false), (false, true), (false, false)].map(AgentState.init)
        #expect(states == [.starting, .starting, .ready, .degraded])
    }
}
