import AgentHost
import IssuerProtocol
import Keys
import StoreTables
import Testing
import TextAndTime
import ThreeDS
import WebAuthn

@testable import Authenticator
@testable import Journal
@testable import Records

/// What is kept of a request for a dispute, and what the audit key says of its entries.
struct EvidenceTests {
    let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func evidence() async throws -> Evidence {
        try await sample.agent.evidence(about: try await sample.onlyRequest().id)
    }

    private func isSealed(_ extract: JournalExtract) async throws -> Bool {
        let key = try #require(try await sample.agent.journal.store.publicKey())
        let seal = try #require(extract.seal)
        return try key.isValid(signature: seal.signature, over: seal.statement)
    }

    @Test func `of an approval everything is kept that a third party needs to check it`() async throws {
        let card = try await sample.enrolled()
        let request = SampleRequest()
        try await sample.receive(request, for: card)
        try await sample.approve(try await sample.onlyRequest().id)
        let body = try #require(try await sample.outbox(of: card).first?.body)
        try await sample.deliverAll()

        let evidence = try await evidence()
        let message = try CompactJWS.parse(evidence.request.message)
        let key = try #require(evidence.kept.issuerKey)
        #expect(try key.isValid(rawSignature: message.signature, over: message.signingInput))
        #expect(evidence.kept.decision == body)
        let assertion = try #require(evidence.assertion)
        let signed = try assertion.authenticatorData + SHA256Digest.of(assertion.clientDataJSON)
        #expect(try card.publicKey.isValid(signature: assertion.signature, over: signed))
        let transaction = try #require(evidence.transaction)
        #expect(transaction == (try ChallengeCommitment.transactionBytes(request.transaction)))
        #expect(evidence.request.presented?.nonce == request.nonce && !evidence.isErased)
    }

    @Test func `the text is kept as it was when it was decided, whatever zone the agent shows times in later`()
        async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let offered = try #require(try await sample.agent.text(of: try await sample.onlyRequest()))
        let moved = try sample.restarted(
            settings: AgentSettings(localTime: LocalTime { _ in (3_600, "XXX") }, version: "1.2.3"))
        let decided = try await moved.approve(try await sample.onlyRequest().id)
        let shown = try #require(try await moved.agent.text(of: decided))
        #expect(shown.text != offered.text)
        // In its first zone again, it would write the other text.
        let kept = try await sample.agent.evidence(about: decided.id).kept
        #expect(kept.text == shown.text)
        #expect(try await sample.newest(.decided).text("text") == shown.digest)
    }

    @Test func `of an undecided one the text is kept that was offered last`() async throws {
        let card = try await sample.enrolled()
        func keptIsJournaled(_ kind: JournalFact.Kind) async throws {
            let first = try #require(try await sample.requests().first)
            let kept = try #require(try await sample.agent.evidence(about: first.id).kept.text)
            #expect(try await sample.agent.text(of: first)?.text == kept)
            #expect(try await sample.newest(kind).text("text") == sample.agent.text(of: first)?.digest)
        }
        try await sample.receive(SampleRequest(), for: card)
        try await keptIsJournaled(.presented)
        try await sample.receive(SampleRequest(jti: "request-2", iat: 1, exp: 900), for: card)
        try await keptIsJournaled(.superseded)
        try await sample.receive(SampleRequest(jti: "request-3", purchaseAmount: "200"), for: card)
        try await keptIsJournaled(.conflict)
    }

    @Test func `the text of a decided one is not touched by what comes after it`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let decided = try await sample.approve(try await sample.onlyRequest().id)
        let before = try await sample.agent.evidence(about: decided.id).kept
        let later = try sample.restarted(
            settings: AgentSettings(localTime: LocalTime { _ in (3_600, "XXX") }, version: "1.2.3"))
        try await later.receive(SampleRequest(jti: "request-2", purchaseAmount: "200"), for: card)
        #expect(try await sample.agent.evidence(about: decided.id).kept == before)
    }

    @Test func `the key is that of the message that is answered, also after the issuer has changed its keys`()
        async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        #expect(try await evidence().kept.issuerKey == sample.issuerKey.publicKey)
        let newer = try SigningKey.generate(.es256)
        let keys = JWKSet(keys: [("key-2", newer.publicKey)])
        await sample.issuer.onKeys { () throws(IssuerError) in keys }
        let message = try SampleRequest(jti: "request-2", iat: 1, kid: "key-2").message(
            for: card.enrollment, signedBy: newer)
        try await sample.receive(messages: [message], for: card)
        #expect(try await evidence().kept.issuerKey == newer.publicKey)
        #expect(try await sample.onlyRequest().message == message)
    }

    @Test func `a denial is kept as it is sent, and carries no assertion`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.decide(.deny(.suspectedFraud), try await sample.onlyRequest().id)
        let evidence = try await evidence()
        #expect(evidence.kept.decision == DecisionBody.deny(.suspectedFraud))
        #expect(evidence.kept.text != nil && evidence.assertion == nil)
    }

    @Test func `of a refused one the message, its key and the refusal are kept, and no text`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(rpId: "other.example"), for: card)
        let evidence = try await evidence()
        #expect(evidence.kept.decision == DecisionBody.deny(.invalidRequest))
        #expect(evidence.kept.issuerKey == sample.issuerKey.publicKey && !evidence.request.message.isEmpty)
        #expect(evidence.kept.text == nil && evidence.transaction == nil && evidence.assertion == nil)
    }

    @Test func `of one that was cancelled undecided there is the text, and no decision`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.receive(SampleCancellation(), for: card)
        let evidence = try await evidence()
        #expect(evidence.kept.text != nil && evidence.kept.decision == nil)
        #expect(evidence.journal.rows.count == 2)
    }

    @Test func `the audit key has signed the digest of each entry about the request, and of no other`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let (first, second) = (try await sample.requests()[0], try await sample.requests()[1])
        try await sample.approve(first.id)
        try await sample.decide(.deny(.userDenied), second.id)
        let extract = try await sample.agent.journal.extract(about: first.id)
        let all = try await sample.journal()
        let own = all.filter { $0.text("request") == first.id.text }
        #expect(own.map(\.kind) == [.presented, .decided])
        #expect(extract.rows.map(\.bytes) == own.map(\.bytes) && extract.fault == nil)
        let points = try ([#require(all.last)] + own).map { try $0.point }
        let lines = points.map { "\($0.sequence) \($0.hexadecimal)\n" }
        #expect(extract.seal?.statement == Array("oob-agent journal extract 1\n\(lines.joined())".utf8))
        #expect(try await isSealed(extract))
    }

    @Test func `of a journal that was changed nothing is signed, and the fault is told`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.decide(.deny(.userDenied), try await sample.onlyRequest().id)
        let rows = try await sample.journal().map { entry in
            let text = String(decoding: entry.bytes, as: UTF8.self)
            let isChanged = entry.kind == .presented
            return JournalRow(
                sequence: entry.sequence,
                bytes: Array((isChanged ? text.replacing("2023-11-14", with: "2023-11-13") : text).utf8))
        }
        try await sample.store.real.write { store in
            try store.removeJournal(through: .max)
            for row in rows { try store.insert(row) }
        }
        let extract = try await sample.agent.journal.extract(about: try await sample.onlyRequest().id)
        #expect(extract.seal == nil)
        #expect(extract.fault == JournalError(sequence: 2, problem: "was changed"))
    }

    @Test func `a request whose entries were removed for their age has none, and nothing is signed`() async throws {
        let short = AgentSettings(auditRetention: 1_000, version: "1.2.3")
        let sample = try SampleAgent(short)
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        try await sample.agent.provenTimeKeeper.look()
        sample.clock.advance(by: 5_000)
        try await sample.agent.prepare()
        while try await sample.agent.journalPruner.step() {}
        let extract = try await sample.agent.journal.extract(about: id)
        #expect(extract.rows.isEmpty && extract.seal == nil && extract.fault == nil)
    }

    @Test func `what an issuer repeats without end is bounded, and the oldest entries are told`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        let enrollment = card.enrollment
        try await sample.agent.ports.store.write { store in
            let request = try #require(try store.request(id))
            for _ in 0..<JournalExtract.maxEntries {
                try store.record(.expired(request), at: enrollment.startedAt)
            }
        }
        let extract = try await sample.agent.journal.extract(about: id)
        #expect(extract.rows.count == JournalExtract.maxEntries)
        #expect(try await isSealed(extract))
        let first = try #require(try await sample.journal().first { $0.text("request") == id.text })
        #expect(extract.rows.first?.bytes == first.bytes)
    }

    @Test func `after an erasure nothing is left but ids, states and the journal`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.approve(try await sample.onlyRequest().id).id
        try await sample.deliverAll()
        try await sample.running([sample.agent.dataRetention.run]) {
            _ = try await sample.agent.unenroll(card.id, locally: true, forced: true, erasing: true)
        }
        let evidence = try await sample.agent.evidence(about: id)
        #expect(evidence.isErased && evidence.kept == KeptEvidence() && evidence.request.message.isEmpty)
        #expect(evidence.transaction == nil && evidence.assertion == nil)
        #expect(try await isSealed(evidence.journal))
    }

    @Test func `a request that is not there is not found`() async throws {
        let id = try RequestID(random: SystemEntropy())
        let code = try await failureCode { _ = try await sample.agent.evidence(about: id) }
        #expect(code == .notFound)
    }
}
