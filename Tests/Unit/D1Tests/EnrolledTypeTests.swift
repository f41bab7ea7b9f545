import Testing

@testable import D1

@Suite struct EnrolledTypeTests {
    @Test func `what was read before an enrollment ended is not shown after it`() async throws {
        let enrolled = EnrolledType()
        let (begun, whenBegun) = AsyncStream<Void>.makeStream()
        let (answers, whenAnswered) = AsyncStream<Void>.makeStream()
        async let earlier: Void = enrolled.update {
            whenBegun.yield()
            for await _ in answers { break }
            return .platform
        }
        for await _ in begun { break }
        try await enrolled.update { nil }
        whenAnswered.yield()
        try await earlier
        #expect(enrolled.value == nil)
        try await enrolled.update { .platform }
        #expect(enrolled.value == .platform)
    }
}
