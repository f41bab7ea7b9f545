import ScratchDirectories
import Testing

@testable import Control

/// The client on a real socket, against what is no agent, or one in trouble.
@Suite(.timeLimit(.minutes(20)))
struct TransportTests {
    private static let request = #"""
        {"id":"89abcdef0123456789ab","jti":"b1c6","acsTransId":"2f37539c-d82e-4929-88db-2f9e72c7fa62",
        "enrollmentId":"0123456789abcdef0123","issuer":"https://issuer.example","warnings":[],"state":"approved",
        "delivery":"queued","receivedAt":"2023-10-17T05:56:39Z"}
        """#
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

    private static func answer(_ body: String) -> [UInt8] {
        Array((head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body).utf8)
    }

    /// What a call comes to against an agent that sends these.
    private func result<Value: Sendable>(
        against pieces: [[UInt8]], hangsUp: Bool = true,
        of call: (ControlClient) async throws(ClientError) -> Value
    ) async throws -> Result<Value, ClientError> {
        let scratch = try ScratchDirectory()
        let agent = try FakeAgent(in: scratch.path)
        let served = agent.serve(pieces, hangsUp: hangsUp)
        let result: Result<Value, ClientError>
        do throws(ClientError) {
            // However long a busy machine takes.
            let client = try ControlClient(socketFlag: agent.path, environment: [:], leastSeconds: 86_400)
            result = .success(try await call(client))
        } catch {
            result = .failure(error)
        }
        _ = await served.request
        return result
    }

    private func approval(against pieces: [[UInt8]]) async throws -> Result<RequestView, ClientError> {
        try await result(against: pieces) { client throws(ClientError) in
            try await client.decide(.approve, on: .next, with: DecideCommand())
        }
    }

    private func transport(to agent: FakeAgent) -> ControlTransport {
        ControlTransport(socketPath: agent.path, environment: [:], leastSeconds: 0)
    }

    @Test func `a decision is asked for once, and its answer is read`() async throws {
        #expect(try await approval(against: [Self.answer(Self.request)]).get().state == .approved)
    }

    @Test func `a request says what is asked for and how long its body is`() async throws {
        let scratch = try ScratchDirectory()
        let agent = try FakeAgent(in: scratch.path)
        let served = agent.serve([Self.answer("{}")])
        var call = ControlCall(.post, ["requests", "a b/c"], query: [("x", "&")], body: Array("{}".utf8), seconds: 60)
        call.lastEventID = CursorText("17")
        _ = try await transport(to: agent).answer(to: call)
        let lines = await served.request.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(
            lines == [
                "POST /v1/requests/a%20b%2Fc?x=%26 HTTP/1.1", "Host: localhost", "Connection: close",
                "Accept: application/json", "Last-Event-ID: 17", "Content-Type: application/json",
                "Content-Length: 2", "", "{}",
            ])
    }

    @Test func `wherever an answer to a decision is cut off, it is not known whether it was made`() async throws {
        let whole = Self.answer(Self.request)
        for length in [0, 5, 12, 17, 40, whole.count - 1] {
            guard case .failure(.unknown) = try await approval(against: [Array(whole[..<length])]) else {
                Issue.record("cut after \(length) bytes")
                continue
            }
        }
    }

    @Test(arguments: [
        "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n{}",
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}x", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        "Content-Length: 9223372036854775807\r\n\r\n{}", "\r\n{}",
    ])
    func `if the body of an answer is not in order, it is not known whether the decision was made`(
        rest: String
    ) async throws {
        guard case .failure(.unknown) = try await approval(against: [Array((Self.head + rest).utf8)]) else {
            Issue.record("known")
            return
        }
    }

    @Test func `what does not answer in HTTP is no agent`() async throws {
        let endless = [Array(Self.head.utf8)] + Array(repeating: Array("X: y\r\n".utf8), count: 20_000)
        for pieces in [endless, [Array("220 mail ESMTP\r\n".utf8)]] {
            let result = try await result(against: pieces, hangsUp: false) { client throws(ClientError) in
                try await client.status()
            }
            guard case .failure(.unreachable(let message)) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(message.contains("it is no oob-agent"))
        }
    }

    @Test func `an answer that is longer than its head says is read as far as that`() async throws {
        let pieces = [Self.answer("[]"), Array("garbage".utf8)]
        #expect(
            try await result(against: pieces) { client throws(ClientError) in try await client.doctor() }.get() == [])
    }

    @Test func `a long answer is read whole, and one of more than 8 MiB is not`() async throws {
        let entry = Array((String(repeating: "x", count: 65_535) + "\n").utf8)
        let chunk = Array("10000\r\n".utf8) + entry + Array("\r\n".utf8)
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        for (chunks, isRead) in [(128, true), (129, false)] {
            let pieces = [Array(head.utf8)] + Array(repeating: chunk, count: chunks) + [Array("0\r\n\r\n".utf8)]
            let result = try await result(against: pieces) { client throws(ClientError) in
                try await client.auditEntries(after: CursorText(0), limit: 1_000)
            }
            if isRead {
                #expect(try result.get().count == chunks)
            } else {
                #expect(
                    result
                        == .failure(
                            .unclear("The agent's answer has more than 8 MiB: ask for less, such as with --limit.")))
            }
        }
    }

    @Test func `who says nothing is waited for as long as the call may take`() async throws {
        let scratch = try ScratchDirectory()
        let agent = try FakeAgent(in: scratch.path)
        for (sent, call) in [
            ([], ControlCall(.get, ["status"], seconds: 0)), ([Self.head], ControlCall(.get, ["status"], seconds: 0)),
        ] {
            let served = agent.serve(sent.map { Array($0.utf8) }, hangsUp: false)
            await #expect(
                throws: ClientError.unclear("The agent did not answer within 0 s; what was asked may have been done.")
            ) { try await transport(to: agent).answer(to: call) }
            _ = await served.request
        }
    }

    @Test func `a stream without a byte for so long is over, and not whole`() async throws {
        let scratch = try ScratchDirectory()
        let agent = try FakeAgent(in: scratch.path)
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.sqlite3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
        let served = agent.serve([Array(head.utf8)], hangsUp: false)
        var call = ControlCall(.get, ["backup"], seconds: 60)
        call.accepted = "application/vnd.sqlite3"
        let transport = ControlTransport(socketPath: agent.path, environment: [:], leastSeconds: 60)
        var all: [UInt8] = []
        let isWhole = try await transport.stream(call, silence: 0) { all += $0 }
        #expect(!isWhole)
        #expect(String(decoding: all, as: UTF8.self) == "abc")
        _ = await served.request
    }

    @Test func `a backup is taken only if its end has come`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.sqlite3\r\n"
        let chunked = head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
        for (text, isWhole) in [
            (chunked + "0\r\n\r\n", true), (chunked + "0\r\n", false), (chunked, false),
            (head + "Content-Length: 3\r\n\r\nabc", true), (head + "Content-Length: 4\r\n\r\nabc", false),
            (head + "\r\nabc", false),
        ] {
            let result = try await result(against: [Array(text.utf8)]) { client throws(ClientError) in
                var all: [UInt8] = []
                try await client.backup { all += $0 }
                return String(decoding: all, as: UTF8.self)
            }
            #expect((try? result.get()) == (isWhole ? "abc" : nil), "\(text)")
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n"])
    func `an agent that goes before a backup begins is worth another try`(text: String) async throws {
        let result = try await result(against: [Array(text.utf8)]) { client throws(ClientError) in
            try await client.backup { _ in }
        }
        let error = try #require(throws: ClientError.self) { try result.get() }
        #expect(error.exitStatus == .queued && error.description.hasSuffix("No backup was made; try again later."))
    }

    @Test func `a call that is cancelled ends at once, whatever the agent does`() async throws {
        let scratch = try ScratchDirectory()
        let agent = try FakeAgent(in: scratch.path)
        let client = try ControlClient(socketFlag: agent.path, environment: [:], leastSeconds: 86_400)
        let (asked, sayAsked) = AsyncStream.makeStream(of: Never.self)
        let served = agent.serve([], hangsUp: false) { sayAsked.finish() }
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var position: CursorText?
                try await client.events(after: &position, enrollment: nil) { _ in }
            }
            for await _ in asked {}
            group.cancelAll()
            await #expect(throws: ClientError.self) { try await group.waitForAll() }
        }
        // It ends once the client has hung up.
        _ = await served.request
    }

    @Test func `an event that is cut off behind its id is asked for again`() async throws {
        let event = #"data: {"event":"enrolled","seq":5,"at":"2023-10-17T05:56:38Z"}"#
        let bytes =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + "id: 3\n\n"
            + "id: alpha:5,beta:2\n\(event)\n\nid: alpha:6,beta:2\ndata: {"
        let result = try await result(against: [Array(bytes.utf8)]) { client throws(ClientError) in
            var position: CursorText?
            try await client.events(after: &position, enrollment: nil) { _ in }
            return position?.text
        }
        #expect(try result.get() == "alpha:5,beta:2")
    }

    @Test func `who answers before all of a request was sent is heard`() async throws {
        let scratch = try ScratchDirectory()
        let agent = try FakeAgent(in: scratch.path)
        let served = agent.serve([Self.answer("{}")], bytesRead: 1)
        // More than a socket takes without anyone who reads.
        let call = ControlCall(.post, ["requests"], body: Array(repeating: 0x20, count: 4 << 20), seconds: 60)
        #expect(try await transport(to: agent).answer(to: call).body == Array("{}".utf8))
        _ = await served.request
    }

    @Test func `where nobody listens any more there is no agent`() async throws {
        let scratch = try ScratchDirectory()
        let path = try FakeAgent(in: scratch.path).path
        let client = try ControlClient(socketFlag: path, environment: [:])
        await #expect(throws: ClientError.nobodyListens(at: [path])) { try await client.status() }
    }
}
