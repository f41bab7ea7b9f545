import Custody
import IssuerProtocol
import Keys
import ScratchDirectories
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Records
@testable import Signing

/// A key of the agent's own is sealed in its enrollment's row, on either store.
@Suite(.timeLimit(.minutes(20)))
struct StoredKeyTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test func `the agent enrolls with it, and approves after a restart`() async throws {
        try await sample.issuer.enrolls()
        let id = try await sample.agent.enroll(sample.parameters(), patience: 0).id
        #expect(try await sample.enrollment(id).sealedKey != nil)
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(try await again.enrollment(id).isDamaged == false)
    }

    @Test func `the key of another enrollment in its place signs nothing, under whichever seal`() async throws {
        try await sample.agent.prepare()
        let (card, thief) = (try await sample.enrolled("card"), try await sample.enrolled("thief"))
        try await sample.receive(SampleRequest(), for: card)
        let request = try await sample.onlyRequest().id
        try sample.tamper(
            """
            UPDATE enrollment SET sealed_key = (SELECT other.sealed_key FROM enrollment AS other WHERE other.id = ?1)
            WHERE id = ?2
            """, [thief.id.text, card.id.text])
        let again = try sample.restarted()
        #expect(try await again.enrollment(card.id).isDamaged)
        #expect(try await failureCode { try await again.approve(request) } == .keyUnavailable)
        // Also with a row that somebody has sealed: it is sealed for one enrollment, and must be the registered one.
        let stolen = try #require(try await sample.enrollment(thief.id).sealedKey)
        for enrollment in [card, thief] {
            let reference = KeyReference(
                of: enrollment.id, at: .own, registered: card.publicKey, sealed: stolen)
            await #expect(throws: CustodyError.self) { try await again.agent.ports.custody.unlock(reference, pin: nil) }
        }
    }

    @Test func `the sealed key of an old PIN that is put back is found, and the old PIN approves nothing`() async throws
    {
        try await sample.agent.prepare()
        let (card, request) = try await sample.enrolledWithPIN()
        let old = try #require(try await sample.enrollment(card.id).sealedKey)
        let pin = try PIN(Secret(Array("2468".utf8)))
        try await sample.agent.changePIN(of: card.id, from: .right, to: pin)
        try sample.tamper("UPDATE enrollment SET sealed_key = ? WHERE id = ?", [old, card.id.text])
        // The running agent may know the row by its seal, and then has the right key.
        #expect(try await sample.refusal(of: request, pin: .right) != nil)
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(try await again.enrollment(card.id).isDamaged)
        for pin in [try PIN.right, pin] {
            #expect(try await again.refusal(of: request, pin: pin)?.code == .keyUnavailable)
        }
        #expect(try await again.enrollment(card.id).findings.map(\.weakness) == [.enrollmentDamaged])
    }

    @Test func `it goes with the end of its enrollment`() async throws {
        let card = try await sample.enrolled()
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        let ended = try await sample.enrollment(card.id)
        guard case .ended = ended.state else { throw SampleError("not ended") }
        #expect(ended.sealedKey == nil)
    }

    @Test func `doctor says that whoever has a copy of the database and the secret has the possession`() async throws {
        let card = try await sample.enrolled()
        let findings = try await sample.agent.checkup.findingsOfAll().filter { $0.enrollment == card.id }
        #expect(findings.map(\.weakness) == [.keyExportable])
        #expect(findings.first?.message.contains("RTS Article 7") == true)
        #expect(sample.agent.keyURI(of: try await sample.enrollment(card.id)) == "store:\(card.id)")
    }
}
