import IssuerProtocol
import StoreTables
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

@Suite(.timeLimit(.minutes(20)))
struct BatchFetchTests {
    private typealias Asked = ScriptedIssuer.BatchFetch
    private typealias Answers = Channel<BatchFetchAnswer>

    /// An agent whose issuer has a batch fetch and says what is sent to the channel, one value a call.
    private func agent(
        enrolled names: [String]
    ) async throws -> (agent: SampleAgent, answers: Answers, enrollments: [SampleEnrollment]) {
        let agent = try SampleAgent()
        let answers = Answers()
        await agent.issuer.onBatchFetch { (_) async throws(IssuerError) in try await answers.answer() }
        var enrollments: [SampleEnrollment] = []
        for name in names { enrollments.append(try await agent.enrolled(name)) }
        return (agent, answers, enrollments)
    }

    private func id(_ name: String) throws -> TokenID { try #require(TokenID("authenticator-\(name)")) }

    private func list(_ name: String, _ requests: [String] = [], cursor: String) throws -> BatchFetchAnswer.Result {
        .init(authenticatorId: try id(name), outcome: .list(RequestList(requests: requests, cursor: cursor)))
    }

    private func problem(_ name: String, _ code: ProblemCode?) throws -> BatchFetchAnswer.Result {
        .init(authenticatorId: try id(name), outcome: .problem(code))
    }

    /// Whom a call asked for, with their cursors.
    private func cursors(_ asked: Asked) -> [String: String] { asked.cursors.mapValues { $0 ?? "none" } }

    @Test func `all enrollments at an issuer share one call, and each has its own cursor`() async throws {
        let (agent, answers, _) = try await agent(enrolled: ["a", "b", "c"])
        try await agent.running([agent.agent.fetcher.run]) {
            let first = try await agent.issuer.batchFetched.next()
            #expect(
                cursors(first) == ["authenticator-a": "none", "authenticator-b": "none", "authenticator-c": "none"])
            #expect(first.wait == 50)
            answers.send(BatchFetchAnswer(results: [try list("a", cursor: "1"), try list("c", cursor: "3")]))
            let second = try await agent.issuer.batchFetched.next()
            #expect(cursors(second) == ["authenticator-a": "1", "authenticator-b": "none", "authenticator-c": "3"])
            #expect(await agent.issuer.fetches.isEmpty)
        }
    }

    @Test func `what comes for one is in the store, for that one`() async throws {
        let (agent, answers, enrollments) = try await agent(enrolled: ["a", "b"])
        try await agent.running([agent.agent.fetcher.run]) {
            let message = try agent.message(SampleRequest(), for: enrollments[1])
            answers.send(BatchFetchAnswer(results: [try list("b", [message], cursor: "1")]))
            let request = try await agent.eventually { try $0.oldestPending(enrollment: nil) }
            #expect(request.enrollmentId == enrollments[1].id)
        }
    }

    @Test func `an answer about an authenticator that was not asked for is nobody's`() async throws {
        let (agent, answers, enrollments) = try await agent(enrolled: ["a"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            let message = try agent.message(SampleRequest(), for: enrollments[0])
            answers.send(
                BatchFetchAnswer(results: [try list("z", [message], cursor: "1"), try list("a", cursor: "2")]))
            #expect(cursors(try await agent.issuer.batchFetched.next()) == ["authenticator-a": "2"])
            #expect(try await agent.requests().isEmpty)
            #expect(await agent.agent.figures().drops == [.notAsked: 1])
        }
    }

    @Test func `if one is left out, the others are asked for again at once`() async throws {
        let (agent, answers, _) = try await agent(enrolled: ["a", "b"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            answers.send(BatchFetchAnswer(results: [try problem("a", .invalidRequest)]))
            // Nobody moves the clock.
            #expect(cursors(try await agent.issuer.batchFetched.next()) == ["authenticator-b": "none"])
        }
    }

    @Test func `a newcomer is asked for at once, and what is under way is asked for again`() async throws {
        let (agent, answers, _) = try await agent(enrolled: ["a"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            answers.send(BatchFetchAnswer(results: [try list("a", cursor: "1")]))
            _ = try await agent.issuer.batchFetched.next()
            agent.clock.advance(by: 1)
            agent.agent.hub.publish(.journaled(.enrolled, of: try await agent.enrolled("b").id))
            let third = try await agent.issuer.batchFetched.next()
            #expect(cursors(third) == ["authenticator-a": "1", "authenticator-b": "none"])
        }
    }

    @Test func `for many newcomers a call is made again once a second`() async throws {
        let (agent, _, _) = try await agent(enrolled: ["a"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            for name in ["b", "c", "d"] {
                agent.agent.hub.publish(.journaled(.enrolled, of: try await agent.enrolled(name).id))
            }
            var seconds = 0
            repeat {
                #expect(try await agent.clock.wakeNext() == 1)
                seconds += 1
            } while try await agent.issuer.batchFetched.next().cursors.count < 4
            #expect(await agent.issuer.batchFetches.count == 1 + seconds)
        }
    }

    @Test func `an unknown token suspends that enrollment only, which is looked at again after an hour`() async throws {
        let (agent, answers, enrollments) = try await agent(enrolled: ["a", "b"])
        await agent.issuer.onFetch { (_) throws(IssuerError) in RequestList(requests: [], cursor: "again") }
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            answers.send(
                BatchFetchAnswer(results: [try problem("a", .invalidToken), try list("b", cursor: "1")]))
            #expect(cursors(try await agent.issuer.batchFetched.next()) == ["authenticator-b": "1"])
            guard case .suspended = try await agent.enrollment(enrollments[0].id).state else {
                Issue.record("it is not suspended")
                return
            }
            agent.clock.advance(by: 3_600)
            answers.send(BatchFetchAnswer(results: []))
            #expect(try await agent.issuer.fetched.next().token == enrollments[0].token)
            try await agent.eventually { store in
                if case .active = try store.enrollment(enrollments[0].id)?.state { true } else { nil }
            }
            var asked = try await agent.issuer.batchFetched.next()
            if asked.cursors.count == 1 {
                agent.clock.advance(by: 1)
                asked = try await agent.issuer.batchFetched.next()
            }
            #expect(Set(asked.cursors.keys) == ["authenticator-a", "authenticator-b"])
        }
    }

    @Test func `a person's fetch brings a suspended enrollment back at once`() async throws {
        let (agent, answers, enrollments) = try await agent(enrolled: ["a", "b"])
        await agent.issuer.onFetch { (_) throws(IssuerError) in RequestList(requests: [], cursor: "again") }
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            answers.send(BatchFetchAnswer(results: [try problem("a", .invalidToken)]))
            #expect(try await agent.issuer.batchFetched.next().cursors.count == 1)
            agent.clock.advance(by: 1)
            #expect(try await agent.agent.fetch(enrollments[0].id).isEmpty)
            #expect(try await agent.issuer.batchFetched.next().cursors.count == 2)
        }
    }

    @Test func `one that is unenrolled is not asked for any more`() async throws {
        let (agent, answers, enrollments) = try await agent(enrolled: ["a", "b"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            _ = try await agent.agent.unenroll(enrollments[0].id, locally: true, forced: true)
            answers.send(BatchFetchAnswer(results: [try list("b", cursor: "1")]))
            var asked = try await agent.issuer.batchFetched.next()
            // The call may have begun before the roster heard of it.
            while asked.cursors.count > 1 {
                answers.send(BatchFetchAnswer(results: [try list("b", [""], cursor: "\(asked.cursors.count)")]))
                asked = try await agent.issuer.batchFetched.next()
            }
            #expect(Set(asked.cursors.keys) == ["authenticator-b"])
        }
    }

    @Test func `one whose cursor is unknown starts anew, the others go on`() async throws {
        let (agent, answers, _) = try await agent(enrolled: ["a", "b"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            answers.send(BatchFetchAnswer(results: [try list("a", cursor: "1"), try list("b", cursor: "2")]))
            _ = try await agent.issuer.batchFetched.next()
            answers.send(BatchFetchAnswer(results: [try problem("a", .unknownCursor)]))
            #expect(try await agent.clock.wakeNext() == 1)
            let third = try await agent.issuer.batchFetched.next()
            #expect(cursors(third) == ["authenticator-a": "none", "authenticator-b": "2"])
        }
    }

    @Test(arguments: [nil, ProblemCode.unknownCursor, .expired])
    func `one with any other problem is left out for a while, and does not hold the others up`(
        _ code: ProblemCode?
    ) async throws {
        let (agent, answers, enrollments) = try await agent(enrolled: ["a", "b"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            answers.send(BatchFetchAnswer(results: [try problem("a", code), try list("b", cursor: "1")]))
            let second = try await agent.issuer.batchFetched.next()
            #expect(cursors(second) == ["authenticator-b": "1"])
            #expect(second.wait == 1, "the call ends when the other is due again")
            #expect(agent.agent.trouble(of: enrollments[0].id) != nil)
            #expect(agent.agent.trouble(of: enrollments[1].id) == nil)
            agent.clock.advance(by: 1)
            answers.send(BatchFetchAnswer(results: []))
            #expect(try await agent.issuer.batchFetched.next().cursors.count == 2)
        }
    }

    @Test func `what could not be kept comes again`() async throws {
        let (agent, answers, enrollments) = try await agent(enrolled: ["a"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            let message = try agent.message(SampleRequest(), for: enrollments[0])
            agent.store.breakWrites()
            answers.send(BatchFetchAnswer(results: [try list("a", [message], cursor: "1")]))
            try await agent.storeRecovered()
            #expect(cursors(try await agent.issuer.batchFetched.next()) == ["authenticator-a": "none"])
            answers.send(BatchFetchAnswer(results: [try list("a", [message], cursor: "1")]))
            try await agent.eventually { try $0.oldestPending(enrollment: nil) }
        }
    }

    @Test func `a call that fails is repeated for all together, not before the issuer allows it`() async throws {
        let (agent, _, enrollments) = try await agent(enrolled: ["a", "b", "c"])
        await agent.issuer.onBatchFetch { (_) throws(IssuerError) in
            throw .transient(reason: "busy", retryAfter: 90)
        }
        try await agent.running([agent.agent.fetcher.run]) {
            for calls in 1...3 {
                _ = try await agent.issuer.batchFetched.next()
                #expect(try await agent.clock.wakeNext() == 90)
                #expect(await agent.issuer.batchFetches.count == calls)
            }
            for enrollment in enrollments { #expect(agent.agent.trouble(of: enrollment.id) == "busy") }
        }
    }

    @Test func `a newcomer does not wait for the end of a pause`() async throws {
        let (agent, _, _) = try await agent(enrolled: ["a"])
        await agent.issuer.onBatchFetch { (_) throws(IssuerError) in throw .transient(reason: "x", retryAfter: 90) }
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            try await agent.clock.sleepers()
            agent.agent.hub.publish(.journaled(.enrolled, of: try await agent.enrolled("b").id))
            #expect(try await agent.issuer.batchFetched.next().cursors.count == 2)
        }
    }

    @Test func `an issuer that answers at once and says nothing is asked once a second`() async throws {
        let (agent, answers, _) = try await agent(enrolled: ["a"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            answers.send(BatchFetchAnswer(results: [try list("a", cursor: "1")]))
            for same in [[], [try list("a", cursor: "2")], [try list("a", ["again"], cursor: "2")]] {
                _ = try await agent.issuer.batchFetched.next()
                answers.send(BatchFetchAnswer(results: same))
                #expect(try await agent.clock.wakeNext() == 1)
            }
        }
    }

    @Test func `if the issuer has no batch fetch any more each is asked for alone, from its cursor on`() async throws {
        let (agent, answers, _) = try await agent(enrolled: ["a", "b"])
        try await agent.running([agent.agent.fetcher.run]) {
            _ = try await agent.issuer.batchFetched.next()
            answers.send(BatchFetchAnswer(results: [try list("a", cursor: "1"), try list("b", cursor: "2")]))
            _ = try await agent.issuer.batchFetched.next()
            await agent.issuer.onBatchFetch(nil)
            agent.clock.advance(by: 86_400)
            answers.send(BatchFetchAnswer(results: []))
            let cursors = [
                try await agent.issuer.fetched.next().cursor, try await agent.issuer.fetched.next().cursor,
            ]
            #expect(Set(cursors) == ["1", "2"])
        }
    }

    @Test func `a fetch that is cancelled because the agent stops is no trouble of the issuer's`() async throws {
        let (agent, _, enrollments) = try await agent(enrolled: ["a"])
        try await agent.running([agent.agent.fetcher.run]) { _ = try await agent.issuer.batchFetched.next() }
        #expect(agent.agent.trouble(of: enrollments[0].id) == nil)
    }
}
