import IssuerProtocol
import Keys
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// The key of an enrollment is given out as it is stored.
@Suite(.timeLimit(.minutes(20)))
struct KeyExportTests {
    private let sample: SampleAgent
    private let peer = ControlPeer(uid: 0, gid: 0, pid: 7, process: "oobctl")

    init() throws { sample = try SampleAgent() }

    @Test func `an export is in the journal, and is the key as it is stored`() async throws {
        let card = try await sample.enrolled()
        let kinds = try await sample.recorded {
            let exported = try await sample.agent.exportKey(.sealed, of: card.id, for: peer)
            let stored = try await sample.enrollment(card.id)
            #expect(exported.sealedKey != nil && exported.sealedKey == stored.sealedKey)
        }
        #expect(kinds.suffix(1) == [.commanded])
        let entry = try await sample.newest(.commanded)
        #expect(entry.text("command") == "exportKey" && entry.text("enrollment") == card.id.text)
    }

    @Test func `the journal tells an export of the public half from one of the sealed half`() async throws {
        let card = try await sample.enrolled()
        #expect(try await sample.agent.exportKey(.public, of: card.id, for: peer).credentialKey == card.publicKey)
        let entry = try await sample.newest(.commanded)
        #expect(entry.text("command") == "exportPublicKey" && entry.text("enrollment") == card.id.text)
    }

    @Test func `a look at what would be exported leaves no entry`() async throws {
        let card = try await sample.enrolled()
        let kinds = try await sample.recorded { _ = try await sample.agent.keyToExport(.sealed, of: card.id) }
        #expect(kinds == [])
    }

    @Test func `an export revives neither a PIN that was changed nor an enrollment that has ended`() async throws {
        try await sample.agent.prepare()
        let (card, request) = try await sample.enrolledWithPIN()
        let old = try #require(try await sample.agent.exportKey(.sealed, of: card.id, for: peer).sealedKey)
        try await sample.agent.changePIN(of: card.id, from: .right, to: PIN(Secret(Array("2468".utf8))))
        try sample.tamper("UPDATE enrollment SET sealed_key = ? WHERE id = ?", [old, card.id.text])
        var later = try sample.restarted()
        #expect(try await later.refusal(of: request, pin: .right)?.code == .keyUnavailable)
        await #expect(throws: CommandError.self) { try await later.agent.exportKey(.sealed, of: card.id, for: peer) }

        _ = try await later.agent.unenroll(card.id, locally: true, forced: true)
        try sample.tamper("UPDATE enrollment SET sealed_key = ? WHERE id = ?", [old, card.id.text])
        later = try sample.restarted()
        try await later.agent.prepare()
        #expect(try await later.enrollment(card.id).isOver)
        #expect(try await later.refusal(of: request, pin: .right) != nil)
        #expect(
            try await failureCode { _ = try await later.agent.exportKey(.sealed, of: card.id, for: peer) }
                == .notEnrolled)
    }
}
