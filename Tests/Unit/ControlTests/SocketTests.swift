import Control
import Testing

struct SocketTests {
    static let everywhere = [
        "RUNTIME_DIRECTORY": "/run/agent:/run/other", "XDG_RUNTIME_DIR": "/run/user/1000",
        "STATE_DIRECTORY": "/var/lib/agent", "XDG_STATE_HOME": "/home/a/state", "HOME": "/home/a",
    ]

    @Test func `an agent makes the directory in the user's session alone, and only if no other place is named`() {
        let session = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        #expect(ControlSocket.sessionDirectory(setting: nil, environment: session) == "/run/user/1000/oob-agent")
        #expect(ControlSocket.sessionDirectory(setting: "/tmp/a.sock", environment: session) == nil)
        let service = session.merging(["RUNTIME_DIRECTORY": "/run/oob-agent"]) { $1 }
        #expect(ControlSocket.sessionDirectory(setting: nil, environment: service) == nil)
        #expect(ControlSocket.sessionDirectory(setting: nil, environment: ["HOME": "/home/a"]) == nil)
    }

    @Test func `the usual places come in their order`() {
        #expect(
            ControlSocket.candidates(flag: nil, environment: Self.everywhere) == [
                "/run/agent/control.sock", "/run/user/1000/oob-agent/control.sock", "/var/lib/agent/control.sock",
                "/run/oob-agent/control.sock",
            ])
    }

    @Test(arguments: [
        (["XDG_STATE_HOME": "/s", "HOME": "/h"], "/s/oob-agent/control.sock"),
        (["HOME": "/h"], "/h/.local/state/oob-agent/control.sock"),
        (["HOME": "/h", "XDG_STATE_HOME": ""], "/h/.local/state/oob-agent/control.sock"),
        (["HOME": "/h", "XDG_STATE_HOME": "relative"], "/h/.local/state/oob-agent/control.sock"),
        (["HOME": "/h", "OOB_AGENT_STATE_DIR": "state"], "state/control.sock"),
    ])
    func `the state directory is found without a flag`(environment: [String: String], first: String) {
        let expected = [first, "/run/oob-agent/control.sock"]
        #expect(ControlSocket.candidates(flag: nil, environment: environment) == expected)
    }

    @Test func `a name leaves no other choice, and the flag is stronger than the environment`() {
        var environment = Self.everywhere
        environment["OOB_AGENT_SOCKET"] = "/from/environment"
        #expect(ControlSocket.candidates(flag: nil, environment: environment) == ["/from/environment"])
        #expect(ControlSocket.candidates(flag: "/from/flag", environment: environment) == ["/from/flag"])
    }

    @Test func `a client takes the first place where something stands`() throws {
        let path = try ControlSocket.path(flag: nil, environment: Self.everywhere) { $0.hasPrefix("/var") }
        #expect(path == "/var/lib/agent/control.sock")
        #expect(try ControlSocket.path(flag: nil, environment: Self.everywhere) { _ in false } == nil)
    }

    @Test func `a usual place that is too long for a socket is passed over`() throws {
        let long = "/" + String(repeating: "x", count: 100)
        let path = try ControlSocket.path(flag: nil, environment: ["HOME": long]) { _ in true }
        #expect(path == "/run/oob-agent/control.sock")
    }

    @Test func `a path of 103 bytes is taken and one of 104 is a clear error`() throws {
        let limit = "/" + String(repeating: "é", count: 51)
        #expect(limit.utf8.count == 103)
        #expect(try ControlSocket.path(flag: limit, environment: [:]) { _ in true } == limit)
        let error = #expect(throws: ControlError.self) {
            try ControlSocket.path(flag: limit + "x", environment: [:]) { _ in true }
        }
        #expect(error?.message.contains("104 bytes; at most 103 are taken, which is SwiftNIO's bound") == true)
        #expect(error?.token.exitStatus == .usage)
    }

    @Test func `an agent listens where it is told, else in the runtime directory, else in its state directory`() throws
    {
        func path(_ setting: String?, _ environment: [String: String]) throws -> String {
            try ControlSocket.listeningPath(setting: setting, stateDirectory: "/state", environment: environment)
        }
        #expect(try path("/x.sock", Self.everywhere) == "/x.sock")
        #expect(try path(nil, Self.everywhere) == "/run/agent/control.sock")
        #expect(try path(nil, ["XDG_RUNTIME_DIR": "/run/user/1"]) == "/run/user/1/oob-agent/control.sock")
        #expect(try path(nil, [:]) == "/state/control.sock")
        #expect(throws: ControlError.self) { try path("", [:]) }
    }

    @Test(arguments: [0, 1_000, 999] as [UInt32]) func `a socket of root, oneself or the agent's user is trusted`(
        owner: UInt32
    ) {
        #expect(failure(isSocket: true, owner: owner, agentUser: 999) == nil)
    }

    @Test func `a socket of somebody else's is not spoken to`() {
        let failure = failure(isSocket: true, owner: 1_001, agentUser: 999)
        #expect(failure?.exitStatus == .unreachable)
        #expect(failure?.description.contains("user id 1001") == true)
    }

    @Test func `if the agent's user does not exist nobody else takes its place`() {
        #expect(failure(isSocket: true, owner: 999, agentUser: nil)?.exitStatus == .unreachable)
    }

    @Test(arguments: [UInt32(0), 1_000])
    func `nobody is looked up for a socket of root's or of the client's own user`(owner: UInt32) throws {
        let found = SocketTrust.Found(isSocket: true, owner: owner)
        try SocketTrust.expectTrusted(found, at: "/x.sock", ownUser: 1_000, agentUser: "oob-agent") { name in
            Issue.record("\(name) was looked up")
            return nil
        }
    }

    @Test func `a file that is no socket is not spoken to`() {
        #expect(failure(isSocket: false, owner: 0, agentUser: nil)?.exitStatus == .unreachable)
    }

    @Test(arguments: ["/proc/self/nothing-here", "/proc/self/status", "/proc/self/status/below", "/proc/self/exe"])
    func `a path without a socket is 69 and names the path`(path: String) {
        let failure = #expect(throws: ClientError.self) { try SocketTrust.expectTrusted(path, environment: [:]) }
        #expect(failure?.exitStatus == .unreachable)
        #expect(failure?.description.contains(path) == true)
    }

    @Test func `who listens is judged as whoever has the socket, and is not trusted if the kernel does not say`() {
        #expect(throws: Never.self) { try SocketTrust.expectTrusted(listener: 0, at: "/x.sock", environment: [:]) }
        for stranger in [UInt32(54_321), nil] {
            let failure = #expect(throws: ClientError.self) {
                try SocketTrust.expectTrusted(
                    listener: stranger, at: "/x.sock", environment: ["OOB_AGENT_USER": "nobody"])
            }
            #expect(failure?.exitStatus == .unreachable)
            #expect(failure?.description.contains("nothing was sent") == true)
        }
    }

    @Test func `the agent's user may be a number, as in a container that has no name for it`() {
        #expect(throws: Never.self) {
            try SocketTrust.expectTrusted(listener: 54_321, at: "/x.sock", environment: ["OOB_AGENT_USER": "54321"])
        }
    }

    private func failure(isSocket: Bool, owner: UInt32, agentUser: UInt32?) -> ClientError? {
        let found = SocketTrust.Found(isSocket: isSocket, owner: owner)
        do throws(ClientError) {
            try SocketTrust.expectTrusted(found, at: "/x.sock", ownUser: 1_000, agentUser: "oob-agent") { _ in agentUser
            }
            return nil
        } catch {
            return error
        }
    }
}
