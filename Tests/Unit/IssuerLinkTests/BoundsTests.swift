import IssuerProtocol
import Records
import Testing

@testable import IssuerLink

@Suite(.timeLimit(.minutes(20)))
struct BoundsTests {
    private enum Framing: CaseIterable { case length, chunked, untilClose }

    private static func reply(_ text: String, bytes: Int, _ framing: Framing) -> Reply {
        let body = Array(text.utf8) + Array(repeating: UInt8(ascii: " "), count: bytes - text.utf8.count)
        return switch framing {
        case .length: .answer(200, body)
        case .chunked:
            Reply(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String(bytes, radix: 16))\r\n",
                body: body + Array("\r\n0\r\n\r\n".utf8))
        case .untilClose: Reply("HTTP/1.1 200 OK\r\n\r\n", body: body, then: .close)
        }
    }

    @Test(arguments: Framing.allCases)
    private func `an answer may have 1 MiB and not a byte more`(_ framing: Framing) async throws {
        let text = #"{"transStatus":"Y"}"#
        try await Link.run { _ in
            Self.reply(text, bytes: 1_048_576, framing)
        } _: { link in
            let status = try await link.decide()
            #expect(status == .authenticated)
        }
        try await Link.run { _ in
            Self.reply(text, bytes: 1_048_577, framing)
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.isTransient)
            #expect(failure.reason == "the issuer's answer is larger than 1048576 bytes")
        }
    }

    @Test(arguments: Framing.allCases)
    private func `a list may have 2 MiB and not a byte more`(_ framing: Framing) async throws {
        let text = #"{"requests":[],"cursor":"c"}"#
        try await Link.run { _ in
            Self.reply(text, bytes: 2_097_152, framing)
        } _: { link in
            let list = try await link.gateway.fetch(link.access, wait: 0, after: nil)
            #expect(list.cursor == "c")
        }
        try await Link.run { _ in
            Self.reply(text, bytes: 2_097_153, framing)
        } _: { link in
            let failure = try await mustFail {
                try await link.gateway.fetch(link.access, wait: 0, after: nil)
            }
            #expect(failure.reason == "the issuer's answer is larger than 2097152 bytes")
        }
    }

    @Test(arguments: [(20_000, true), (20_001, false)])
    func `an answer, and a list, have at most as many bytes as are set`(bytes: Int, isTaken: Bool) async throws {
        var bounds = AnswerBounds()
        (bounds.bodyBytes, bounds.listBytes) = (20_000, 20_000)
        try await Link.run(bounds: bounds) { request in
            let text = request.method == "GET" ? #"{"requests":[],"cursor":"c"}"# : #"{"transStatus":"Y"}"#
            return Self.reply(text, bytes: bytes, .length)
        } _: { link in
            let answer = try? await link.decide()
            let list = try? await link.gateway.fetch(link.access, wait: 0, after: nil)
            #expect((answer != nil) == isTaken)
            #expect((list != nil) == isTaken)
        }
    }

    @Test(arguments: [(100, 100, true), (101, 100, false), (2, 2, true), (3, 2, false)])
    func `a list has at most 100 requests, or as many as are set`(count: Int, limit: Int, isTaken: Bool) async throws {
        var bounds = AnswerBounds()
        bounds.listRequests = limit
        let requests = Array(repeating: #""x""#, count: count).joined(separator: ",")
        try await Link.run(bounds: bounds) { _ in
            .answer(200, text: #"{"requests":[\#(requests)],"cursor":"c"}"#)
        } _: { link in
            let list = try? await link.gateway.fetch(link.access, wait: 0, after: nil)
            #expect((list?.requests.count == count) == isTaken)
        }
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

    private static let endless: [(String, [UInt8])] = [
        ("HTTP/1.1 200 OK\r\n\r\n", Array(spaces(65_536).utf8)),
        ("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n", Array(("1000\r\n" + spaces(4_096) + "\r\n").utf8)),
        ("HTTP/1.1 302 No\r\n\r\n", Array(spaces(65_536).utf8)),
        ("HTTP/1.1 200 OK\r\n", Array(repeating: Array("x: y\r\n".utf8), count: 1_000).flatMap(\.self)),
        ("HTTP/1.1 200 OK\r\nx: ", Array(repeating: UInt8(ascii: "y"), count: 4_096)),
    ]

    @Test(arguments: endless.indices)
    func `an answer without an end is broken off`(_ index: Int) async throws {
        let (head, again) = Self.endless[index]
        try await Link.run { _ in
            Reply(head, then: .endless(again))
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.isTransient)
            await link.waitForClose()
        }
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"transStatus\":\"Y\"}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n{\"transStatus\":\"Y\"}\r\n",
        "\u{0}\u{1}\u{2} garbage\r\n\r\n", "SSH-2.0-OpenSSH_9.2p1\r\n", "HTTP/1.1 99999 X\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ])
    func `an answer that breaks off or is not HTTP is transient`(_ text: String) async throws {
        try await Link.run { _ in
            Reply(text, then: .close)
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.isTransient)
        }
    }

    @Test func `a port that nobody listens on is named as a refusal`() async throws {
        let port = try ClosedPort()
        for host in ["127.0.0.1", "localhost"] {
            let gateway = HTTPIssuerGateway.patient()
            let target = IssuerTarget(issuer: try IssuerURL("http://\(host):\(port.number)"), rootsPEM: nil)
            let failure = try await mustFail { try await gateway.discovery(target) }
            #expect(failure.reason == "the issuer refused the connection")
            await gateway.shutdown()
        }
    }

    @Test func `a host that nobody knows is named as one`() async throws {
        let gateway = HTTPIssuerGateway.patient()
        let target = IssuerTarget(issuer: try IssuerURL("https://nobody.invalid"), rootsPEM: nil)
        let failure = try await mustFail { try await gateway.discovery(target) }
        #expect(failure.reason == "the host name of the issuer was not found")
        await gateway.shutdown()
    }
}
