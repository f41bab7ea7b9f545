import Foundation
import Testing

/// After which request a connection of the control socket ends (RFC 9112 section 9.3).
struct LastRequestTests {
    private static func request(_ version: String, _ fields: [String]) -> String {
        let fields = (["host: agent"] + fields).map { "\($0)\r\n" }.joined()
        return "GET /v1/health HTTP/\(version)\r\n\(fields)\r\n"
    }

    /// The status lines of the answers, two at most; of fewer, when the agent has ended the connection.
    private static func answers(to text: String, on agent: AgentUnderTest) async throws -> Int {
        let connection = try await agent.connection()
        try await connection.send(text)
        return try await connection.answers(2).components(separatedBy: "HTTP/1.1 200 OK").count - 1
    }

    @Test func `it is the one with close among its options in whatever case, or of HTTP/1.0`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start("--control-patience", "600")
            for options in [["close"], ["Close"], ["te, close"], ["CLOSE,te"], ["te", "close"]] {
                let fields = options.map { "connection: \($0)" }
                #expect(try await Self.answers(to: Self.request("1.1", fields), on: agent) == 1, "\(options)")
            }
            for fields in [[], ["connection: te"]] {
                #expect(try await Self.answers(to: Self.request("1.0", fields), on: agent) == 1, "\(fields)")
            }
        }
    }

    @Test func `after any other one the next is answered`() async throws {
        try await Scenario.run { scenario in
            let agent = scenario.agent()
            try await agent.start()
            let others = [
                ("1.1", []), ("1.1", ["connection: te"]), ("1.1", ["connection: closed"]),
                ("1.0", ["connection: Keep-Alive"]),
            ]
            for (version, fields) in others {
                let request = Self.request(version, fields)
                #expect(try await Self.answers(to: request + request, on: agent) == 2, "\(version) \(fields)")
            }
        }
    }
}
