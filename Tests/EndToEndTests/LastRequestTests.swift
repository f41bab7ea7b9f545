import Foundation
import Testing

/// After which request a connection of the control socket ends (RFC 9112 section 9.3).
struct LastRequestTests {
    private static func isLast(_ version: String, _ fields: [String], on agent: AgentUnderTest) async throws -> Bool {
        let fields = (["host: agent"] + fields).map { "\($0)\r\n" }.joined()
        let request = "GET /v1/health HTTP/\(version)\r\n\(fields)\r\n"
        let connection = try await agent.connection()
        try await connection.send(request + request)
        let answers = try await connection.answers(2).components(separatedBy: "HTTP/1.1 200 OK").count - 1
        #expect((1...2).contains(answers))
        return answers == 1
    }

    @Test func `it is the one with close among its options in whatever case, or of HTTP/1.0`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start("--control-patience", "600")
            for options in [["close"], ["Close"], ["te, close"], ["CLOSE,te"], ["te", "close"]] {
                let fields = options.map { "connection: \($0)" }
                #expect(try await Self.isLast("1.1", fields, on: agent), "\(options)")
            }
            #expect(try await Self.isLast("1.0", [], on: agent))
            #expect(try await Self.isLast("1.0", ["connection: te"], on: agent))
        }
    }

    @Test func `after any other one the next is answered`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            #expect(try await !Self.isLast("1.1", [], on: agent))
            #expect(try await !Self.isLast("1.1", ["connection: te"], on: agent))
            #expect(try await !Self.isLast("1.1", ["connection: closed"], on: agent))
            #expect(try await !Self.isLast("1.0", ["connection: Keep-Alive"], on: agent))
        }
    }
}
