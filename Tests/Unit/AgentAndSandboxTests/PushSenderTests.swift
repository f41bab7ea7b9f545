import NIOCore
import RawHTTP
import Testing

@testable import Authenticator
@testable import Keys

/// Senders of pushes that send too much or too slowly, with bounds of each test's own.
@Suite(.timeLimit(.minutes(20)))
struct PushSenderTests {
    private let good: [UInt8]

    init() throws { good = try PushPort.receiver().recipient.encrypt(Array("hint".utf8)) }

    private func push(_ body: [UInt8], _ fields: [String] = []) -> [UInt8] {
        let lines =
            [
                "POST /push/\(PushPort.token) HTTP/1.1", "Host: x", "Content-Encoding: aes128gcm", "TTL: 60",
                "Content-Length: \(body.count)",
            ] + fields
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    private var last: [UInt8] { push(good, ["Connection: close"]) }

    @Test(arguments: [(5, 100), (100, 5)] as [(Int64, Int64)])
    func `too many to one endpoint, and in all, are 429 with the time to wait`(
        ofEndpoint: Int64, inAll: Int64
    ) async throws {
        var rates = PushRates()
        (rates.ofEndpoint, rates.inAll) = (ofEndpoint, inAll)
        try await PushPort.run(rates: rates) { port in
            for _ in 0..<5 {
                let answer = try await port.http.answer(to: last)
                #expect(answer.hasPrefix("HTTP/1.1 201 "), "\(answer)")
            }
            let answer = try await port.http.answer(to: last)
            #expect(answer.hasPrefix("HTTP/1.1 429 "), "\(answer)")
            // Five in a minute are one in twelve seconds.
            #expect(answer.lowercased().contains("retry-after: 12\r\n"), "\(answer)")
        }
    }

    @Test func `if half pushes have all places, the first of them is cut for a whole push`() async throws {
        try await PushPort.run(connections: 2) { port in
            try await port.http.connected { first, _ in
                try await port.untilOpen(1)
                try await port.http.connected { second, outbound in
                    try await outbound.write(ByteBuffer(bytes: push(good).dropLast()))
                    try await port.untilOpen(2)
                    let answer = try await port.http.answer(to: last)
                    #expect(answer.hasPrefix("HTTP/1.1 201 "), "\(answer)")

                    var cut = ReceivedText(first)
                    #expect(try await cut.next(to: "\r\n\r\n").isEmpty)
                    #expect(port.figures().crowded == 1)
                    try await outbound.write(ByteBuffer(bytes: good.suffix(1)))
                    var kept = ReceivedText(second)
                    #expect(try await kept.next(to: "\r\n\r\n").hasPrefix("HTTP/1.1 201 "))
                }
            }
        }
    }

    @Test func `who sends half a push is cut when its time is over`() async throws {
        try await PushPort.run(patience: 1) { port in
            for half in [[], push(good).dropLast()] {
                let answer = (try? await port.http.answer(to: Array(half))) ?? ""
                #expect(!answer.contains(" 201 "))
            }
        }
    }

    @Test func `who is refused again and again is cut when its time is over`() async throws {
        try await PushPort.run(patience: 2) { port in
            try await port.http.connected { inbound, outbound in
                var received = ReceivedText(inbound)
                do {
                    while true {
                        try await outbound.write(ByteBuffer(bytes: push(Array("{".utf8))))
                        guard try await received.next(to: "\r\n\r\n").hasPrefix("HTTP/1.1 400 ") else { return }
                    }
                } catch {
                    // It was cut while a push was on its way.
                }
            }
        }
    }

    /// RFC 9112 section 9.3.
    @Test(arguments: [("1.1", "close"), ("1.1", "Close"), ("1.1", "te, close"), ("1.0", "te")])
    func `a connection ends after its last request`(version: String, options: String) async throws {
        try await PushPort.run { port in
            let answer = try await port.http.answer(
                to: "GET / HTTP/\(version)\r\nHost: x\r\nConnection: \(options)\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
        }
    }
}
