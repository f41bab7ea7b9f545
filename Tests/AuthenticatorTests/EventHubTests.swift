import Testing

@testable import Authenticator

@Suite struct EventHubTests {
    private let hub = EventHub()

    @Test(.timeLimit(.minutes(2)))
    func `a bell that was made before a look into a mailbox has rung only once the mailbox has the key`() async throws {
        let mailbox = hub.mailbox { if case .pushRotated(let id) = $0 { [id] } else { [] } }
        for number in 10_000..<15_000 {
            let id = try #require(EnrollmentID("000000000000000\(number)"))
            let bell = hub.bell { if case .pushRotated = $0 { true } else { false } }
            async let published: Void = hub.publish(.pushRotated(id))
            var taken = mailbox.takeAll()
            if taken.isEmpty {
                for await _ in bell { break }
                taken = mailbox.takeAll()
            }
            #expect(taken == [id])
            await published
        }
    }
}
