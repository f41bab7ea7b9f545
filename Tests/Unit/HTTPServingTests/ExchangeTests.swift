import HTTPTypes
import HummingbirdCore
import NIOCore
import RawHTTP
import Synchronization
import Testing

@testable import HTTPServing

@Suite(.timeLimit(.minutes(20))) struct ExchangeTests {
    private static let held = "POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\nexpect: 100-continue\r\n"
    private static let last = "GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"

    /// Answers with what came as the body.
    private static let echo: PatientChannel.Responder = { request, _ in
        guard let body = try? await request.body.collect(upTo: 64) else {
            return (Response(status: .badRequest), false)
        }
        return (Response(status: .ok, body: .init(byteBuffer: body)), true)
    }

    @Test(arguments: ["content-length: 5", "transfer-encoding: chunked"])
    func `a client that holds its body back is told to go on before it sends any of it`(framing: String) async throws {
        try await LocalServer.run(Self.echo) { server in
            try await server.connected { inbound, outbound in
                var received = ReceivedText(inbound)
                for _ in 0..<2 {
                    try await outbound.write(
                        ByteBuffer(string: "POST /x HTTP/1.1\r\nhost: x\r\n\(framing)\r\nExpect: 100-Continue\r\n\r\n"))
                    let informational = try await received.next(to: "\r\n\r\n")
                    #expect(informational == "HTTP/1.1 100 Continue\r\n\r\n")
                    try await outbound.write(
                        ByteBuffer(string: framing.hasPrefix("content") ? "hello" : "5\r\nhello\r\n0\r\n\r\n"))
                    let final = try await received.next(to: "hello")
                    #expect(final.hasPrefix("HTTP/1.1 200 OK\r\n") && !final.lowercased().contains("connection"))
                }
            }
        }
    }

    @Test func `one that is refused by its head gets that answer at once, and the connection ends`() async throws {
        let paths = Mutex<[String]>([])
        try await LocalServer.run { request, _ in
            paths.withLock { $0.append(request.uri.path) }
            return (Response(status: .notFound), false)
        } _: { server in
            try await server.connected { inbound, outbound in
                var received = ReceivedText(inbound)
                try await outbound.write(ByteBuffer(string: Self.held + "\r\n"))
                let head = try await received.next(to: "\r\n\r\n")
                #expect(head.hasPrefix("HTTP/1.1 404 Not Found\r\n") && head.contains("Connection: close\r\n"))
                // Whatever it sends now is nobody's request.
                try? await outbound.write(ByteBuffer(string: "hello" + Self.last))
                outbound.finish()
                #expect(try await received.next(to: "never") == "")
            }
        }
        #expect(paths.withLock(\.self) == ["/x"])
    }

    @Test func `a client of HTTP 1·0, or without a body, is told nothing`() async throws {
        try await LocalServer.run(Self.echo) { server in
            let old = try await server.answer(
                to: "POST /x HTTP/1.0\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\nhello")
            #expect(old.hasPrefix("HTTP/1.1 200 OK\r\n") && old.hasSuffix("\r\n\r\nhello"), "\(old)")
            let empty = try await server.answer(
                to:
                    "POST /x HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\nexpect: 100-continue\r\n\r\n"
            )
            #expect(empty.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(empty)")
        }
    }

    @Test func `another expectation is ignored`() async throws {
        try await LocalServer.run(Self.echo) { server in
            let answer = try await server.answer(
                to: "POST /x HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: x=1\r\ncontent-length: 5\r\n\r\nhello")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("hello"), "\(answer)")
        }
    }

    @Test func `HEAD has the status and fields of GET, and no body`() async throws {
        try await LocalServer.run { request, _ in
            let body = "\(request.method) \(request.uri.path)"
            return (
                Response(
                    status: .accepted, headers: [.eTag: "1", .allow: "GET, POST"],
                    body: .init(byteBuffer: ByteBuffer(string: body))), true
            )
        } _: { server in
            let get = try await server.answer(to: Self.last)
            let head = try await server.answer(to: Self.last.replacing("GET", with: "HEAD"))
            #expect(get == head + "GET /last")
            #expect(
                head.contains("\r\nContent-Length: 9\r\n") && head.contains("\r\nAllow: GET, POST, HEAD\r\n"), "\(head)"
            )
            // The connection goes on, and the next answer is in its place.
            let both = try await server.answer(to: "HEAD /last HTTP/1.1\r\nhost: x\r\n\r\n" + Self.last)
            #expect(both == head + get)
        }
    }

    @Test func `HEAD of what has no length known before has its fields alone, and the stream is not begun`()
        async throws
    {
        let begun = Mutex(0)
        try await LocalServer.run { _, _ in
            let body = ResponseBody { writer in
                begun.withLock { $0 += 1 }
                try await writer.write(ByteBuffer(string: "event"))
                try await writer.finish(nil)
            }
            return (Response(status: .ok, headers: [.eTag: "1"], body: body), true)
        } _: { server in
            let head = try await server.answer(to: "HEAD /events HTTP/1.1\r\nhost: x\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.hasSuffix("\r\n\r\n"), "\(head)")
            #expect(head.lowercased().contains("transfer-encoding: chunked") && head.contains("1"))
            #expect(begun.withLock(\.self) == 0)
        }
    }
}
