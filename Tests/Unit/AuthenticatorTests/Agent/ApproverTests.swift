import IssuerProtocol
import Logging
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

struct AppApproverTests {
    @Test func `a decision of the app that the core runs in is recorded as such`() async throws {
        let sample = try SampleAgent()
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        _ = try await sample.agent.decide(
            .deny(.userDenied), on: try await sample.onlyRequest().id, expecting: Expectations(),
            by: .app(AppProcess(uid: 7, pid: 8, process: "bank")))
        let decided = try await sample.newest(.decided)
        #expect(decided.text("by") == "app" && decided.text("process") == "bank")
        #expect(decided.number("uid") == 7 && decided.number("pid") == 8)
        // It was given the transaction's members, and not the agent's text.
        #expect(decided.text("shown") == "nothing")
    }
}

@Suite struct ControlPeerTests {
    @Test func `a line of the log names a process that the agent may see, and none that it may not`() {
        let seen = ControlPeer(uid: 7, gid: 8, pid: 9, process: "oobctl")
        #expect(seen.logged([:]) == ["uid": "7", "gid": "8", "pid": "9", "process": "oobctl"])
        let unseen = ControlPeer(uid: 7, gid: 8, pid: 9, process: "")
        #expect(unseen.logged(["command": "enroll"]) == ["uid": "7", "gid": "8", "pid": "9", "command": "enroll"])
    }
}
