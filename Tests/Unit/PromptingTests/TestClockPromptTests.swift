import Control
import Testing

@testable import Prompting

/// An agent whose clock is a test's: its times are ahead of this machine's.
struct TestClockPromptTests {
    private static func request(ahead seconds: Int, state: RequestState = .pending) -> RequestView {
        // Ten minutes by the agent's clock.
        var request = Sample.request(state: state, expiresAt: "2023-10-17T06:16:38Z")
        request.clock = ClockView(isTest: true, offsetSeconds: seconds, now: "2023-10-17T06:06:38Z")
        return request
    }

    @Test func `a request says that the clock is a test's, and counts down by it`() {
        var rehearsal = Rehearsal()
        _ = rehearsal.when(.opened)
        let effects = rehearsal.when(.found(Self.request(ahead: 600)))
        #expect(effects.shown.contains("The agent's clock is a test's, 10m ahead."))
        #expect(effects.questions.first?.countdown == "Expires in 10:00.")
    }

    @Test func `the machine's clock is not mentioned`() {
        var rehearsal = Rehearsal()
        _ = rehearsal.when(.opened)
        #expect(!rehearsal.when(.found(Sample.request())).shown.contains("clock"))
    }

    @Test func `an advance has the request that stands read again`() {
        var rehearsal = Rehearsal.asking(Self.request(ahead: 0))
        #expect(rehearsal.when(Sample.event("clockAdvanced", nil)).contains(.load(id: "r1")))
        let effects = rehearsal.when(.found(Self.request(ahead: 60)))
        #expect(effects.shown.contains("a test's, 1m ahead"))
    }

    @Test func `a request that an advance has ended has expired, also before the agent has closed it`() {
        var rehearsal = Rehearsal.asking(Self.request(ahead: 0))
        _ = rehearsal.when(Sample.event("clockAdvanced", nil))
        let effects = rehearsal.when(.found(Self.request(ahead: 1_200)))
        #expect(effects.shown.contains("has expired"))
        #expect(!effects.shown.contains("asked about again"))
    }
}
