import IssuerProtocol
import Synchronization
import Testing

@testable import IssuerLink
@testable import Records

/// What issuers may have in the agent's memory, and how many connections.
@Suite(.timeLimit(.minutes(20)))
struct AnswerRoomTests {
    private static let list = #"{"requests":[],"cursor":"c"}"#

    private static func padded(_ bytes: Int) -> [UInt8] {
        Array(list.utf8) + Array(repeating: UInt8(ascii: " "), count: bytes - list.utf8.count)
    }

    /// Room for two lists that say their length, of all issuers.
    private static var narrow: TransportLimits {
        var limits = TransportLimits.patient
        limits.room.polls = 100_000
        limits.room.pollsOfIssuer = 100_000
        return limits
    }

    @Test(arguments: [
        (AnswerBounds.standard.bytesInAll, 6_291_456, 2_097_152), (AnswerBounds.leastBytesInAll, 3_145_728, 1_048_576),
    ])
    func `lists have three quarters of the room, and an issuer an eighth`(bytes: Int, lists: Int, others: Int) {
        let bounds = AnswerRoom.Bounds(bytes: bytes)
        #expect(bounds.polls + bounds.calls == bytes)
        #expect((bounds.polls, bounds.calls) == (8 * lists, 8 * others))
        #expect((bounds.pollsOfIssuer, bounds.callsOfIssuer) == (lists, others))
        #expect(lists >= AnswerBounds.standard.listBytes && others >= AnswerBounds.standard.bodyBytes)
    }

    @Test func `a long list waits until those before it are done with, and short ones do not`() async throws {
        try await Link.run(limits: Self.narrow) { request in
            .answer(200, Self.padded(request.target.contains("after=short") ? 16_384 : 50_000))
        } _: { link in
            func fetch(_ cursor: String) async throws -> RequestList {
                try await link.gateway.fetch(link.access, wait: 0, after: cursor)
            }
            var kept = [try await fetch("long"), try await fetch("long")]
            let third = Mark()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try await fetch("long")
                    third.set()
                }
                var answers = 0
                for await case .replied in link.server.events {
                    answers += 1
                    if answers == 3 { break }
                }
                // Meanwhile nothing else has to wait: neither a short list nor a long answer to another call.
                for _ in 0..<20 {
                    let short = try await fetch("short")
                    #expect(short.cursor == "c")
                }
                #expect(!third.isSet)
                kept.removeLast()
                try await group.waitForAll()
            }
            #expect(third.isSet)
            #expect(kept.map(\.cursor) == ["c"])
        }
    }

    @Test func `one issuer's lists leave room for another's`() async throws {
        var limits = TransportLimits.patient
        limits.room.pollsOfIssuer = 100_000
        try await Link.run(limits: limits) { _ in
            // Without a length all the room of a list is taken, which is more than this issuer may have.
            Reply("HTTP/1.1 200 OK\r\n\r\n", body: Self.padded(50_000), then: .hang)
        } _: { greedy in
            try await ScriptedServer.run { _ in
                .answer(200, Self.padded(2_000_000))
            } _: { server in
                let origin = try IssuerURL("http://127.0.0.1:\(server.port)")
                let access = IssuerAccess(
                    target: IssuerTarget(issuer: origin, rootsPEM: nil), discovery: Link.discovery(origin),
                    token: greedy.access.token)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 {
                        group.addTask { _ = try? await greedy.gateway.fetch(greedy.access, wait: 0, after: nil) }
                    }
                    var answers = 0
                    for await case .replied in greedy.server.events {
                        answers += 1
                        if answers == 3 { break }
                    }
                    let list = try await greedy.gateway.fetch(access, wait: 0, after: nil)
                    #expect(list.cursor == "c")
                    group.cancelAll()
                }
            }
        }
    }

    @Test func `who waits for room and is cancelled leaves the queue`() async throws {
        try await Link.run(limits: Self.narrow) { _ in
            .answer(200, Self.padded(100_000))
        } _: { link in
            var kept: RequestList? = try await link.gateway.fetch(link.access, wait: 0, after: nil)
            let waiting = Task { try await link.gateway.fetch(link.access, wait: 0, after: nil) }
            var answers = 0
            for await case .replied in link.server.events {
                answers += 1
                if answers == 2 { break }
            }
            waiting.cancel()
            let failure = try await mustFail { try await waiting.value }
            #expect(failure.reason == "the call was cancelled")
            #expect(kept?.cursor == "c")
            kept = nil
            let last = try await link.gateway.fetch(link.access, wait: 0, after: nil)
            #expect(last.cursor == "c")
        }
    }

    @Test(arguments: [(15_000, true), (20_000, false)])
    func `header fields have 16 KiB in all`(bytes: Int, isTaken: Bool) async throws {
        let fields = (0..<10).map { "x-\($0): " + String(repeating: "y", count: bytes / 10) }
        try await Link.run { _ in
            .answer(200, text: #"{"transStatus":"Y"}"#, headers: fields)
        } _: { link in
            if isTaken {
                let status = try await link.decide()
                #expect(status == .authenticated)
            } else {
                let failure = try await mustFail { try await link.decide() }
                #expect(failure.reason == "the issuer's answer has more than 16384 bytes of header fields")
            }
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nx: ",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nx: ",
    ])
    func `a head, a chunk line or a trailer without an end is broken off`(_ start: String) async throws {
        try await Link.run { _ in
            Reply(start, then: .endless(Array(repeating: UInt8(ascii: "y"), count: 1_024)))
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.reason == "the issuer's answer has more than 16384 bytes of header fields")
            await link.waitForClose()
        }
    }

    @Test func `an answer that says it is too long is not read`() async throws {
        try await Link.run { _ in
            Reply("HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n", then: .hang)
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.reason == "the issuer's answer is larger than 1048576 bytes")
        }
    }

    @Test func `the rest of a body has 5 s and another for each 64 KiB, and its wait for room does not count`() {
        var pace = AnswerReader.Pace()
        #expect(pace.secondsLeft(at: 100, bytes: 0) == nil)
        let begins = [pace.begin(at: 100), pace.begin(at: 101)]
        #expect(begins == [true, false])
        #expect(pace.secondsLeft(at: 100, bytes: 0) == 5)
        #expect(pace.secondsLeft(at: 104, bytes: 131_072) == 3)
        #expect(pace.secondsLeft(at: 106, bytes: 0) == -1)
        pace.wait(at: 104)
        #expect(pace.secondsLeft(at: 110, bytes: 0) == 14)
        pace.goOn(at: 160)
        #expect(pace.secondsLeft(at: 160, bytes: 0) == 1)
    }

    @Test func `polls take their places in turns, and none of those of other calls`() async throws {
        var limits = TransportLimits.patient
        (limits.polls, limits.calls, limits.placeSeconds) = (2, 2, 86_400)
        try await Link.run(limits: limits) { request in
            request.target.contains("after=held") ? .silence : .answer(200, text: Self.decided(request))
        } _: { link in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask { _ = try? await link.gateway.fetch(link.access, wait: 50, after: "held") }
                }
                var held = 0
                for await case .replied in link.server.events {
                    held += 1
                    if held == 2 { break }
                }
                let third = Task { try await link.gateway.fetch(link.access, wait: 0, after: "c") }
                let status = try await link.decide()
                #expect(status == .authenticated)
                group.cancelAll()
                let list = try await third.value
                #expect(list.cursor == "c")
            }
        }
    }

    @Test func `with many connections none is kept for the next call`() async throws {
        var limits = TransportLimits.patient
        limits.polls = 0
        #expect(limits.keptConnections == 0)
        try await Link.run(limits: limits) { request in
            #expect(request.header("connection") == "close")
            return .answer(200, text: Self.decided(request))
        } _: { link in
            try await link.decide()
        }
    }

    private static func decided(_ request: ReceivedRequest) -> String {
        request.method == "GET" ? list : #"{"transStatus":"Y"}"#
    }
}

/// Whether something has happened.
private final class Mark: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock(\.self) }

    func set() { state.withLock { $0 = true } }
}
