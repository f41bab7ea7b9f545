import Logging
import Testing

@testable import Authenticator

@Suite struct ControlPeerTests {
    @Test func `a line of the log names a process that the agent may see, and none that it may not`() {
        let seen = ControlPeer(uid: 7, gid: 8, pid: 9, process: "oobctl")
        #expect(seen.logged([:]) == ["uid": "7", "gid": "8", "pid": "9", "process": "oobctl"])
        let unseen = ControlPeer(uid: 7, gid: 8, pid: 9, process: "")
        #expect(unseen.logged(["command": "enroll"]) == ["uid": "7", "gid": "8", "pid": "9", "command": "enroll"])
    }
}
