import Foundation
import Testing

/// A client of the control socket that behaves badly does not disturb another.
@Suite(.serialized) struct ControlSocketTests {
    private static func get(_ path: String, _ fields: String = "") -> String {
        "GET /v1/\(path) HTTP/1.1\r\nhost: agent\r\n\(fields)\r\n"
    }

    private static func post(_ path: String, _ body: String, length: Int? = nil) -> String {
        "POST /v1/\(path) HTTP/1.1\r\nhost: agent\r\ncontent-length: \(length ?? body.utf8.count)\r\n\r\n\(body)"
    }

    @Test func `a thousand connections of one process keep nobody out`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let (files, memory) = (agent.openFiles, agent.privateMemory)
            var connections: [RawConnection] = []
            for _ in 0..<1_000 { connections.append(try await agent.connection()) }
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            try await agent.ctl("approve", id)
            // 256, 16 more that wait for others to be closed, and what serves the rest of the agent.
            #expect(agent.openFiles < files + 256 + 16 + 16)
            #expect(agent.isBelow(memory + 64 * 1_048_576), "\(agent.privateMemory)")
            #expect(connections.filter { !$0.isCut }.count < 256)
            #expect(agent.log.contains("all places on the control socket were taken"))
        }
    }

    @Test func `who never reads the answers is cut, and others are served meanwhile`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let memory = agent.privateMemory
            let filler = String(repeating: "x", count: 1_000)
            for _ in 0..<40 {
                try await sandbox.purchase(
                    ["a": .string(filler), "b": .string(filler), "c": .string(filler), "d": .string(filler)])
            }
            try await Patience.until("40 requests") {
                try await agent.json("list").elements.count == 40 ? () : nil
            }
            var connections: [RawConnection] = []
            for _ in 0..<100 {
                let connection = try await agent.connection()
                try await connection.send(String(repeating: Self.get("requests"), count: 20))
                connections.append(connection)
            }
            try await agent.ctl("list")
            for connection in connections { try await connection.waitUntilCut() }
            #expect(agent.isBelow(memory + 128 * 1_048_576), "\(agent.privateMemory)")
        }
    }

    @Test func `requests that come at once are answered one after the other`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            let connection = try await agent.connection()
            try await connection.send(Self.get("status") + Self.get("nothing") + Self.post("fetch", "{}"))
            let heads = try await connection.answers(3).components(separatedBy: "HTTP/1.1 ").dropFirst()
            #expect(heads.map { $0.prefix(3) } == ["200", "404", "200"])
        }
    }

    @Test(arguments: [(8_192, "200"), (8_193, "431")])
    func `the value of a header field has at most 8 KiB`(bytes: Int, status: String) async throws {
        try await expect(status, for: Self.get("status", "x: " + String(repeating: "y", count: bytes) + "\r\n"))
    }

    /// 22 bytes are those of the target, the names, and the value of `host`.
    @Test(arguments: [(16_384 - 22, "200"), (16_385 - 22, "431")])
    func `all header fields and the target have at most 16 KiB`(bytes: Int, status: String) async throws {
        let values = [8_000, 8_000, bytes - 16_000].map { String(repeating: "v", count: $0) }
        let fields = zip(["x", "y", "z"], values).map { "\($0): \($1)\r\n" }.joined()
        try await expect(status, for: Self.get("status", fields))
    }

    /// `host` is one of them.
    @Test(arguments: [(63, "200"), (64, "431")])
    func `a request has at most 64 header fields`(others: Int, status: String) async throws {
        try await expect(status, for: Self.get("status", String(repeating: "x: y\r\n", count: others)))
    }

    @Test(arguments: [(65_536, "404"), (65_537, "413")])
    func `a body has at most 64 KiB`(bytes: Int, status: String) async throws {
        let body = "{}" + String(repeating: " ", count: bytes - 2)
        let answer = try await expect(status, for: Self.post("requests/next/approve", body))
        #expect(answer.contains("more than 65536 bytes") == (status == "413"))
    }

    @Test(arguments: [
        post("requests/next/deny", "{}", length: 3), post("requests/next/deny", "{}{}", length: 3),
        post("requests/next/deny", "{", length: 1) + "}",
    ])
    func `a body that is not of the length it declares decides nothing`(_ request: String) async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            let connection = try await agent.connection()
            try await connection.send(request)
            connection.finishSending()
            #expect(!(try await connection.answers(2)).contains("200 OK"))
            #expect(try await agent.received(id)["state"] == "pending")
        }
    }

    @Test(arguments: ["approve", "deny"])
    func `who hangs up while waiting for a request decides nothing`(_ decision: String) async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            var connection: RawConnection? = try await agent.connection()
            try await connection?.send(Self.post("requests/next/\(decision)", #"{"wait": 600}"#))
            try await Patience.until("the connection") { agent.connections == 1 ? () : nil }
            connection = nil
            try await Patience.until("its end") { agent.connections == 0 ? () : nil }
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            try await agent.ctl(decision == "approve" ? "deny" : "approve", id)
        }
    }

    /// Expects the status of an agent's answer to a request.
    @discardableResult
    private func expect(_ status: String, for request: String) async throws -> String {
        var answer = ""
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            let connection = try await agent.connection()
            try await connection.send(request)
            answer = try await connection.answers()
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
        }
        return answer
    }
}
