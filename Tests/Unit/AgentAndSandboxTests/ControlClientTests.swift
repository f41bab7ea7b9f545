import NIOCore
import RawHTTP
import Testing

/// Clients of the control socket that behave badly, or whose connection ends, with bounds of each test's own.
@Suite(.timeLimit(.minutes(20)))
struct ControlClientTests {
    private static func health(_ version: String = "1.1", _ fields: [String] = []) -> String {
        let fields = (["host: agent"] + fields).map { "\($0)\r\n" }.joined()
        return "GET /v1/health HTTP/\(version)\r\n\(fields)\r\n"
    }

    private static let good = "HTTP/1.1 200 OK"

    @Test func `with places for two a third takes that of the one which waited longest`() async throws {
        try await ControlPort.run(connections: 2) { port in
            // Each has its answer before the next one comes: connections may take their places in another order than
            // they were made.
            try await port.http.connected { first, toFirst in
                var first = ReceivedText(first)
                try await Self.ask(&first, toFirst)
                try await port.http.connected { second, toSecond in
                    var second = ReceivedText(second)
                    try await Self.ask(&second, toSecond)
                    try await port.http.connected { third, toThird in
                        var third = ReceivedText(third)
                        try await Self.ask(&third, toThird)
                        #expect(!(try await first.next(to: "no more")).contains(Self.good))
                        try await Self.ask(&second, toSecond)
                    }
                }
            }
        }
    }

    /// Expects an answer on a connection that is kept.
    private static func ask(_ received: inout ReceivedText, _ outbound: RawHTTP.Outbound) async throws {
        try await outbound.write(ByteBuffer(string: health()))
        let answer = try await received.next(to: "}")
        #expect(answer.contains(good), "\(answer)")
    }

    @Test(arguments: [
        "", "GET /v1/sta", "GET /v1/status HTTP/1.1\r\nhost: agent\r\n",
        "POST /v1/fetch HTTP/1.1\r\nhost: agent\r\ncontent-length: 40\r\n\r\n{",
        "POST /v1/fetch HTTP/1.1\r\nhost: agent\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{",
    ])
    func `who sends half a request is cut, and others are served meanwhile`(_ half: String) async throws {
        try await ControlPort.run(patience: 1) { port in
            async let cut = port.http.answer(to: half)
            var other = ""
            // On a busy machine the other's time may be over too: then it asks again.
            while other.isEmpty { other = try await port.http.answer(to: Self.health("1.1", ["connection: close"])) }
            #expect(other.hasPrefix(Self.good), "\(other)")
            #expect(!(try await cut).hasPrefix(Self.good))
        }
    }

    @Test(arguments: ["x-slow: ", "content-length: 60000\r\n\r\n"])
    func `who sends byte by byte has no more time than others`(_ start: String) async throws {
        try await ControlPort.run(patience: 1) { port in
            try await port.http.connected { inbound, outbound in
                try await outbound.write(
                    ByteBuffer(string: "POST /v1/fetch HTTP/1.1\r\nhost: agent\r\n\(start)"))
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        // A pace, so that the bytes do not come to an end; a write fails once it is cut.
                        while (try? await outbound.write(ByteBuffer(string: " "))) != nil {
                            try? await Task.sleep(for: .milliseconds(20))
                        }
                    }
                    do {
                        for try await _ in inbound {}
                    } catch {
                        // It was cut while bytes were on their way.
                    }
                    await group.waitForAll()
                }
            }
        }
    }

    /// RFC 9112 section 9.3.
    @Test(
        arguments: [
            ("1.1", ["connection: close"]), ("1.1", ["connection: Close"]), ("1.1", ["connection: te, close"]),
            ("1.1", ["connection: CLOSE,te"]), ("1.1", ["connection: te", "connection: close"]), ("1.0", []),
            ("1.0", ["connection: te"]),
        ] as [(String, [String])])
    func `after a request with close among its options, or of HTTP/1.0, the connection ends`(
        version: String, fields: [String]
    ) async throws {
        try await ControlPort.run { port in
            let answer = try await port.http.answer(to: Self.health(version, fields))
            #expect(answer.hasPrefix(Self.good), "\(answer)")
        }
    }

    @Test(
        arguments: [
            ("1.1", []), ("1.1", ["connection: te"]), ("1.1", ["connection: closed"]),
            ("1.0", ["connection: Keep-Alive"]),
        ] as [(String, [String])])
    func `after any other request the next is answered`(version: String, fields: [String]) async throws {
        try await ControlPort.run { port in
            let last = Self.health("1.1", ["connection: close"])
            let answers = try await port.http.answer(to: Self.health(version, fields) + last)
            #expect(answers.split(separator: "HTTP/1.1 ").count == 2, "\(answers)")
        }
    }
}
