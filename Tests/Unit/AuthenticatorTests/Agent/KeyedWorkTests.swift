import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// One piece of work per key at a time, and no call is lost.
@Suite(.timeLimit(.minutes(20)))
struct KeyedWorkTests {
    private let hub = EventHub()
    private let begun = Channel<EnrollmentID>()
    private let mayEnd = Channel<Void>()

    private func working(on first: [EnrollmentID], while body: () async throws -> Void) async throws {
        let pendingKeys = hub.pendingKeys { event in event.enrollment(if: { $0 == .enrolled }).map { [$0] } ?? [] }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [begun, mayEnd] in
                await KeyedWork().perform(first, then: pendingKeys) { id in
                    begun.send(id)
                    _ = try? await mayEnd.next()
                }
            }
            defer { group.cancelAll() }
            try await body()
        }
    }

    private func id(_ digit: String) throws -> EnrollmentID {
        try #require(EnrollmentID(String(repeating: digit, count: 20)))
    }

    @Test func `a key that is called while it is at work has another turn, and one alone`() async throws {
        let one = try id("1")
        let other = try id("2")
        try await working(on: [one]) {
            _ = try await begun.next()
            for _ in 1...5 { hub.publish(.journaled(.enrolled, of: one)) }
            // The other shows that the calls were heard.
            hub.publish(.journaled(.enrolled, of: other))
            #expect(try await begun.next() == other)
            mayEnd.send(())
            mayEnd.send(())
            #expect(try await begun.next() == one)
            mayEnd.send(())
            hub.publish(.journaled(.enrolled, of: other))
            #expect(try await begun.next() == other)
        }
    }

    @Test func `of more events than anyone could queue none is forgotten`() async throws {
        let ids = try (0..<3_000).map { number in
            let digits = String(number)
            return try #require(EnrollmentID(String(repeating: "0", count: 20 - digits.count) + digits))
        }
        try await working(on: []) {
            hub.publish(ids.map { .journaled(.enrolled, of: $0) })
            var seen: Set<EnrollmentID> = []
            while seen.count < ids.count { seen.insert(try await begun.next()) }
        }
    }
}
