import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Records

/// Long polls that something on the way ends before their time.
@Suite(.timeLimit(.minutes(20)))
struct CutPollTests: FetchSuite {
    let sample: SampleAgent
    let answers = Channel<Result<RequestList, IssuerError>>()

    init() throws { sample = try SampleAgent() }

    @Test func `a poll that is cut counts as an empty answer, and the next ones are shorter`() async throws {
        let card = try await sample.enrolled()
        try await fetching {
            let first = try await sample.issuer.fetched.next()
            #expect(first.wait == 50)
            sample.clock.advance(by: 30)
            answers.send(.failure(.down))
            // At once: nobody moves the clock.
            #expect(try await sample.issuer.fetched.next().wait == 25)
            #expect(sample.agent.trouble(of: card.id) == nil)
            sample.clock.advance(by: 25)
            answers.send(list(cursor: "c1"))
            #expect(try await sample.issuer.fetched.next().wait == 25)
            sample.clock.advance(by: 3_600)
            answers.send(list(cursor: "c2"))
            #expect(try await sample.issuer.fetched.next().wait == 50)
        }
    }

    @Test(arguments: [
        (4.0, IssuerError.down), (50.0, .down), (30.0, .transient(reason: "busy", retryAfter: 7)),
    ])
    func `one that ends at once, or is never answered, or meets a busy server is a failure`(
        held: Double, failure: IssuerError
    ) async throws {
        let card = try await sample.enrolled()
        try await fetching {
            _ = try await sample.issuer.fetched.next()
            sample.clock.advance(by: held)
            answers.send(.failure(failure))
            try await sample.clock.wakeNext()
            #expect(try await sample.issuer.fetched.next().wait == 50)
            #expect(sample.agent.trouble(of: card.id) == failure.reason)
        }
    }

    @Test func `whoever waits for a request has a fetch that rests after failures go on`() async throws {
        let card = try await sample.enrolled()
        try await fetching {
            while true {
                _ = try await sample.issuer.fetched.next()
                answers.send(.failure(.down))
                let pause = try await sample.clock.naps.next()
                if pause > 10 { break }
                sample.clock.advance(by: pause)
            }
            async let found = sample.agent.request(.next, enrollment: nil, wait: 60)
            // The pause, the wait, and the least that the issuer is left alone.
            try await sample.clock.sleepers(3)
            sample.clock.advance(by: FetchLoop.leastRest)
            _ = try await sample.issuer.fetched.next()
            answers.send(list([try sample.message(.numbered(1), for: card)], cursor: "c1"))
            #expect(try await found.jti.text == "request-1")
        }
    }

    @Test func `what a busy server asked for is kept to, whoever waits`() async throws {
        _ = try await sample.enrolled()
        try await fetching {
            _ = try await sample.issuer.fetched.next()
            answers.send(.failure(.transient(reason: "busy", retryAfter: 100)))
            #expect(try await sample.clock.naps.next() == 100)
            await #expect(throws: CommandError.self) {
                async let found = sample.agent.request(.next, enrollment: nil, wait: 60)
                try await sample.clock.sleepers(2)
                sample.clock.advance(by: 60)
                _ = try await found
            }
        }
        #expect(await sample.issuer.fetches.count == 1)
    }
}
