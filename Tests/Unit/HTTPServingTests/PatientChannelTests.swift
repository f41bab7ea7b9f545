import HTTPTypes
import HummingbirdCore
import NIOCore
import RawHTTP
import Synchronization
import Testing

@testable import HTTPServing

@Suite(.timeLimit(.minutes(20))) struct PatientChannelTests {
    private static let request = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"

    private let places = SourcePlaces(limit: 8)
    /// Opens once, and then stays open.
    private let gate = AsyncStream.makeStream(of: Never.self)

    /// Serves with a patience of a second while `body` runs.
    private func serving(
        _ responder: @escaping PatientChannel.Responder, _ body: (RawHTTP) async throws -> Void
    ) async throws {
        try await LocalServer.run(seconds: 1, places: places, responder, body)
    }

    private func answer(to sent: String, at http: RawHTTP) async throws -> String {
        try await http.answer(to: sent)
    }

    /// The answer to a whole request: on a busy machine its time may be over before it is sent, and it is sent again.
    private func asking(_ http: RawHTTP) async throws -> String {
        while true {
            try Task.checkCancellation()
            let answer = try await answer(to: Self.request, at: http)
            if !answer.isEmpty { return answer }
        }
    }

    @Test func `who sends half a request is cut`() async throws {
        try await serving { _, _ in
            (Response(status: .ok), true)
        } _: { http in
            let answer = try await answer(to: "GET / HTTP/1.1\r\nho", at: http)
            #expect(answer.isEmpty)
        }
        #expect(places.figures.slow == 1)
    }

    @Test func `an answer for which the client has to wait longer than its own time reaches it`() async throws {
        let (asked, isAsked) = AsyncStream.makeStream(of: Never.self)
        let calls = Atomic(0)
        try await serving { [gate] request, peer in
            _ = try? await request.body.collect(upTo: 16)
            peer.waitsForAnswer()
            calls.add(1, ordering: .relaxed)
            isAsked.finish()
            for await _ in gate.stream {}
            return (Response(status: .ok), true)
        } _: { http in
            async let slow = asking(http)
            for await _ in asked {}
            // It begins later, so the other's time is over as well when this one is cut.
            let cut = try await answer(to: "GET", at: http)
            gate.continuation.finish()
            let whole = try await slow
            #expect(cut.isEmpty && whole.hasPrefix("HTTP/1.1 200"))
        }
        #expect(calls.load(ordering: .relaxed) == 1)
    }

    @Test func `who does not read an answer that it has waited for is cut`() async throws {
        try await serving { request, peer in
            _ = try? await request.body.collect(upTo: 16)
            peer.waitsForAnswer()
            return (Response(status: .ok, body: .init(byteBuffer: ByteBuffer(repeating: 0, count: 64 << 20))), true)
        } _: { http in
            try await http.connected { _, outbound in
                try await outbound.write(ByteBuffer(string: Self.request))
                while places.figures.slow == 0 || places.figures.open > 0 {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
        }
    }
}
