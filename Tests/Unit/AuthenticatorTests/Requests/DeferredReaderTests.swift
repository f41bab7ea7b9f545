import IssuerProtocol
import Keys
import StoreTables
import Testing

@testable import Authenticator
@testable import Records

/// What is held is read again without holding anybody up.
@Suite(.timeLimit(.minutes(20)))
struct DeferredReaderTests {
    private let sample: SampleAgent
    private let newKey: SigningKey
    /// The key sets that the issuers answer with; without one a call hangs.
    private let answers = Channel<JWKSet>()
    /// Each call for keys as it comes in.
    private let asked = Channel<Void>()

    init() throws {
        sample = try SampleAgent()
        newKey = try SigningKey.generate(.es256)
    }

    /// An enrollment with a message that is held for a minute; then its issuer answers no more.
    private func hanging() async throws -> SampleEnrollment {
        let card = try await sample.enrolled("hanging")
        var request = SampleRequest.numbered(1)
        request.kid = "key-2"
        try await sample.receive(messages: [request.message(for: card.enrollment, signedBy: newKey)], for: card)
        #expect(sample.agent.deferredReader.deferred.count == 1)
        await sample.issuer.onKeys { [asked, answers] () throws(IssuerError) in
            asked.send(())
            return try await answers.answer()
        }
        return card
    }

    /// An enrollment at another issuer, whose keys are known.
    private func other() async throws -> SampleEnrollment {
        let target = IssuerTarget(issuer: try IssuerURL("https://other.example"), rootsPEM: nil)
        let card = try await sample.enrolled("other", target: target)
        try await sample.receive(SampleRequest.numbered(2).ending(70), for: card)
        return card
    }

    @Test func `while one issuer hangs another's request expires at its time`() async throws {
        _ = try await other()
        let id = try await sample.onlyRequest().id
        _ = try await hanging()
        try await sample.running([sample.agent.expiryService.run, sample.agent.deferredReader.run]) {
            try await sample.clock.sleepers(2)
            sample.clock.advance(by: 60)
            try await asked.next()
            // The expiry service, and the time limit of what hangs.
            try await sample.clock.sleepers(2)
            #expect(try await sample.request(id).life == .pending)
            sample.clock.advance(by: 10)
            try await sample.eventually { try $0.request(id)?.life == .expired ? true : nil }
        }
        #expect(sample.now == SampleAgent.start + 70)
    }

    @Test func `while one issuer hangs another's message is read at its time, and the one that hung after it`()
        async throws
    {
        let other = try await other()
        let card = try await hanging()
        try await sample.running([sample.agent.deferredReader.run]) {
            #expect(try await sample.clock.naps.next() == 60)
            sample.clock.advance(by: 60)
            try await asked.next()
            #expect(try await sample.clock.naps.next() == DeferredReader.patience)
            try await sample.receive(SampleRequest.numbered(3).early(121), for: other)
            #expect(try await sample.clock.naps.next() == 1)
            sample.clock.advance(by: 1)
            try await sample.eventually { try $0.pendingCount(enrollment: other.id) == 2 ? true : nil }
            // Now the time of the one that hangs is over, and a minute later its issuer answers.
            sample.clock.advance(by: DeferredReader.patience - 1)
            #expect(try await sample.heldReaderNap() == 60)
            answers.send(JWKSet(keys: [("key-2", newKey.publicKey)]))
            sample.clock.advance(by: 60)
            try await sample.eventually { try $0.pendingCount(enrollment: card.id) == 1 ? true : nil }
        }
    }

    @Test func `what is held is not dropped by a clock that is set ahead, nor put off when it is set back`()
        async throws
    {
        let card = try await sample.enrolled()
        let reader = sample.agent.deferredReader
        var request = SampleRequest.numbered(1)
        request.kid = "key-2"
        try await sample.receive(messages: [request.message(for: card.enrollment, signedBy: newKey)], for: card)
        sample.clock.set(ahead: 5_000)
        await reader.readDue(of: card.enrollment.target)
        #expect(reader.deferred.count == 1)
        sample.clock.set(ahead: 0)
        await sample.issuer.onKeys { [newKey] () throws(IssuerError) in
            JWKSet(keys: [("key-2", newKey.publicKey)])
        }
        sample.clock.advance(by: 60)
        await reader.readDue(of: card.enrollment.target)
        #expect(try await sample.onlyRequest().life == .pending)
    }
}

extension SampleRequest {
    /// The same, with an `exp` of so many seconds from ``SampleAgent/start``.
    fileprivate func ending(_ exp: Int64) -> SampleRequest {
        var request = self
        request.exp = exp
        return request
    }
}

extension SampleAgent {
    /// How long the reader of what is held lies down for until something is due.
    func heldReaderNap() async throws -> Double {
        while true {
            let nap = try await clock.naps.next()
            // The time limit of a reading; one that is over in no time has none.
            if nap != DeferredReader.patience { return nap }
        }
    }
}
