import Custody
import IssuerProtocol
import Keys
import StoreTables
import TableRows
import TestStores
import Testing
import ThreeDS

@testable import Authenticator
@testable import Records

/// What is personal of an enrollment is under a data key of its own.
@Suite(.timeLimit(.minutes(20)))
struct DataKeyTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func dataKeys() async throws -> [SealedDataKey] {
        try await sample.store.real.read { try $0.dataKeys(after: nil, limit: 1_000) }
    }

    /// An enrollment with a request that was approved, and with its decision in the outbox.
    private func approved(_ number: Int, for card: SampleEnrollment) async throws -> RequestID {
        try await sample.receive(.numbered(number), for: card)
        let id = try #require(try await sample.requests().last).id
        try await sample.approve(id)
        return id
    }

    @Test func `each enrollment has one of its own, sealed for it alone`() async throws {
        let (card, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        let keys = try await dataKeys()
        #expect(Set(keys.map(\.enrollmentId)) == [card.id, other.id])
        let sealer = DataKeySealer(secret: sample.secret)
        let opened = try keys.map { try sealer.open($0.sealed, of: $0.enrollmentId).secret }
        #expect(opened[0] != opened[1])
        #expect(throws: SealError.notSealedByThisSecret) { try sealer.open(keys[0].sealed, of: keys[1].enrollmentId) }
    }

    @Test func `a message from another row is refused as damaged, and the others stay readable`() async throws {
        let card = try await sample.enrolled()
        for number in 1...3 { try await sample.receive(.numbered(number), for: card) }
        let ids = try await sample.requests().map(\.id)
        try sample.tamper(
            """
            UPDATE evidence SET bytes = \(piece("message", of: ids[0]))
            WHERE piece = (SELECT message_piece FROM request WHERE id = '\(ids[1].text)')
            """)
        #expect(try await sample.request(ids[1]).isDamaged)
        let refusal = await #expect(throws: CommandError.self) { try await sample.approve(ids[1]) }
        #expect(refusal?.code == .noLongerDecidable)
        for id in [ids[0], ids[2]] { #expect(try await sample.approve(id).life.state == .approved) }
    }

    @Test func `nor does one open in another column, or under another enrollment's key`() async throws {
        let (card, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        try await sample.receive(.numbered(1), for: card)
        try await sample.receive(.numbered(2), for: other)
        let ids = try await sample.requests().map(\.id)
        try sample.tamper("UPDATE request SET warnings = \(piece("message", of: ids[0])) WHERE id = '\(ids[0].text)'")
        #expect(try await sample.requests().map(\.isDamaged) == [true, false])
        try sample.tamper(
            """
            UPDATE data_key SET sealed = (SELECT sealed FROM data_key WHERE enrollment_id = '\(card.id.text)')
            WHERE enrollment_id = '\(other.id.text)'
            """)
        #expect(try await sample.requests().map(\.isDamaged) == [true, true])
    }

    @Test func `evidence and decisions on their way are bound to their places as well`() async throws {
        let card = try await sample.enrolled()
        let (first, second) = (try await approved(1, for: card), try await approved(2, for: card))
        let text = try #require(try await sample.store.real.read { try $0.evidence(of: second) }.text)
        #expect(try await sample.store.real.read { try $0.evidence(of: first) }.text != text)
        for column in ["text", "decision"] {
            try sample.tamper("UPDATE request SET \(column)_piece = (SELECT MIN(\(column)_piece) FROM request)")
            #expect(try await sample.store.real.read { try $0.evidence(of: second) }.isDamaged)
        }
        #expect(try await sample.outbox(of: card).map { $0.body == nil } == [false, true])
    }

    /// The bytes of a piece, in SQL.
    private func piece(_ name: String, of id: RequestID) -> String {
        "(SELECT bytes FROM evidence WHERE piece = (SELECT \(name)_piece FROM request WHERE id = '\(id.text)'))"
    }

    private func named(_ name: String, in sample: SampleAgent, limit: Int = 1) async throws -> [EnrollmentID] {
        try await sample.store.real.read { try $0.enrollments(named: name, includingEnded: true, limit: limit) }.map(
            \.id)
    }

    @Test func `a name is found behind many others that are looked up by the same number`() async throws {
        for number in 1...40 { _ = try await sample.enrolled("x\(number)", called: "x") }
        let (ended, card) = (
            try await sample.enrolled("ended", called: "y"), try await sample.enrolled("card", called: "y")
        )
        _ = try await sample.agent.unenroll(ended.id, locally: true, forced: true)
        try sample.tamper(
            "UPDATE enrollment SET name_bucket = (SELECT name_bucket FROM enrollment WHERE id = ?)", [card.id.text])
        #expect(try await named("y", in: sample) == [card.id], "one that has not ended comes first")
        #expect(try await named("y", in: sample, limit: 9) == [card.id, ended.id])
        #expect(try await named("z", in: sample, limit: 9).isEmpty)
    }

    @Test func `names are found also once the key of their numbers was lost`() async throws {
        let card = try await sample.enrolled("card", called: "y")
        try sample.tamper("UPDATE row_key SET sealed = x'00'")
        let again = try sample.restarted()
        #expect(try await named("y", in: again).isEmpty)
        try await again.store.real.write { try $0.makeRowKey() }
        #expect(try await named("y", in: again) == [card.id])
        #expect(try await again.store.real.write { try $0.isNameTaken("y") })
    }

    @Test func `it goes with an erasure, and another enrollment's stays`() async throws {
        let (card, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        _ = try await approved(1, for: card)
        let kept = try await approved(2, for: other)
        try await sample.running([sample.agent.dataRetention.run]) {
            _ = try await sample.agent.unenroll(card.id, locally: true, forced: true, erasing: true)
        }
        #expect(try await dataKeys().map(\.enrollmentId) == [other.id])
        #expect(try await sample.request(kept).presented != nil)
        #expect(try await sample.requests().count == 2, "what is left of the erased one is listed as before")
    }

    @Test func `it goes with its enrollment when the retention is over`() async throws {
        let card = try await sample.enrolled()
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        #expect(try await dataKeys().count == 1)
        let later = sample.now + 1
        _ = try await sample.store.real.write { try $0.removeWhatWasOver(before: later, limit: 9) }
        #expect(try await dataKeys().isEmpty)
    }

    @Test func `those of enrollments that are over follow a change of the secret, and their requests are read`()
        async throws
    {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        let id = try await approved(1, for: card)
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        let before = try #require(try await dataKeys().first)
        let new = try AgentSecret.generate()
        let rewrapper = sample.rewrapper(to: new)
        try await sample.restarted(secret: new, previous: sample.secret).rotate(by: rewrapper)
        let after = try #require(try await dataKeys().first)
        #expect(throws: SealError.notSealedByThisSecret) {
            try DataKeySealer(secret: sample.secret).open(after.sealed, of: card.id)
        }
        let (old, present) = (
            try DataKeySealer(secret: sample.secret).open(before.sealed, of: card.id),
            try DataKeySealer(secret: new).open(after.sealed, of: card.id)
        )
        #expect(old.secret == present.secret)
        let later = try sample.restarted(secret: new)
        try await later.agent.prepare()
        #expect(try await later.request(id).presented?.transaction.merchantName != nil)
    }

    @Test func `one that opens under neither secret changes nothing, and is named`() async throws {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        try sample.tamper("UPDATE data_key SET sealed = x'01'")
        let new = try AgentSecret.generate()
        let rewrapper = sample.rewrapper(to: new)
        let failure = try await #require(throws: RotationError.self) {
            try await sample.restarted(secret: new, previous: sample.secret).rotate(by: rewrapper)
        }
        #expect(failure.description.contains("the data key of enrollment \(card.id)"))
        try await sample.restarted().agent.prepare()
    }
}
