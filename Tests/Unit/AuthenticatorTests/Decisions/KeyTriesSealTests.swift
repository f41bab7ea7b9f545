import IssuerProtocol
import Keys
import ScratchDirectories
import SoftKeys
import StoreTables
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Whoever can write the database, and has no secret, gives nobody another try of the PIN of a key that was there already.
@Suite(.timeLimit(.minutes(20)))
struct KeyTriesSealTests {
    private let sample: SampleAgent
    private let uri: KeyURI

    /// With a key file of somebody's under the passphrase 736251, and four wrong PINs of it.
    init() async throws {
        sample = try SampleAgent()
        uri = try KeyURI("file:" + sample.directory.path + "/their.pem")
        try ProgramRun.output(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass"]
                + ["pass:736251", "-out", sample.directory.path + "/their.pem"])
        try await sample.issuer.enrolls()
        for _ in 1...4 { #expect(try await refusal(.wrong)?.code == .userNotVerified) }
    }

    private func refusal(_ pin: PIN, in agent: SampleAgent? = nil) async throws -> CommandError? {
        let parameters = EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: .pin, name: "my card", keyURI: uri,
            pin: pin)
        do {
            _ = try await (agent ?? sample).agent.enroll(parameters, patience: 0)
            return nil
        } catch let failure as CommandError {
            return failure
        }
    }

    private func tries(in agent: SampleAgent) async throws -> PINTries? {
        try await agent.store.real.read { try $0.keyTries() }.values.first
    }

    /// Sees that no PIN is tried for a day, that the right one ends it then, and that the journal says so.
    ///
    /// - Parameter isSealWhole: whether the row has the seal that was written: else it is a difference from the sum for good.
    private func expectBlockedForADay(_ agent: SampleAgent, isSealWhole: Bool) async throws {
        let refused = try await refusal(.right, in: agent)
        #expect(refused?.code == .blocked && refused?.message.contains("something else than the agent") == true)
        #expect(try await agent.newest(.pinTriesPutBack).text("key") != nil)
        #expect(try await agent.newest(.blocked).text("until") != nil)
        agent.clock.advance(by: 86_399)
        #expect(try await refusal(.right, in: agent)?.code == .blocked)
        #expect(await agent.issuer.codes.isEmpty)
        agent.clock.advance(by: 1)
        #expect(try await refusal(.right, in: agent) == nil)
        #expect(try await tries(in: agent) == .fresh)
        #expect(try await (agent.agent.journal.verify().fault == nil) == isSealWhole)
    }

    private static let changes = ["UPDATE key_tries SET failures = 1", "UPDATE key_tries SET blocked_until = 1"]
    private static let changesOfSeals = [
        "UPDATE key_tries SET failures = 1, tries_seal = x''", "UPDATE key_tries SET tries_seal = zeroblob(32)",
        "DELETE FROM key_tries",
    ]

    @Test(arguments: changes + changesOfSeals)
    func `a count that was changed while the agent runs blocks the key for a day`(change: String) async throws {
        try sample.tamper(change)
        #expect(try await sample.agent.journal.verify().fault?.problem.contains("wrong PINs") == true)
        try await expectBlockedForADay(sample, isSealWhole: Self.changes.contains(change))
    }

    @Test func `an older one that is put back while it runs does so too`() async throws {
        try sample.tamper("CREATE TABLE kept AS SELECT * FROM key_tries")
        #expect(try await refusal(.wrong)?.code == .blocked)
        try sample.tamper("DELETE FROM key_tries")
        try sample.tamper("INSERT INTO key_tries SELECT * FROM kept")
        #expect(try await sample.agent.journal.verify().fault?.problem.contains("more wrong PINs") == true)
        try await expectBlockedForADay(sample, isSealWhole: false)
    }

    @Test(arguments: changes)
    func `one that was changed while no agent ran does so too`(change: String) async throws {
        try sample.tamper(change)
        let again = try sample.restarted()
        try await again.agent.prepare()
        try await expectBlockedForADay(again, isSealWhole: true)
    }

    @Test(.ofSQLite) func `of one that was taken away, or is an older one, no PIN is tried after a start`() async throws
    {
        try sample.tamper("CREATE TABLE kept AS SELECT * FROM key_tries")
        #expect(try await refusal(.wrong)?.code == .blocked)
        for change in ["DELETE FROM key_tries", "INSERT OR REPLACE INTO key_tries SELECT * FROM kept"] {
            try sample.tamper(change)
            let again = try sample.restarted()
            try await again.agent.prepare()
            #expect(try await refusal(.right, in: again)?.code == .keyUnavailable)
            #expect(try await again.agent.journal.verify().fault?.problem.contains("more wrong PINs") == true)
        }
    }

    @Test func `an enrollment says that the count of its key was changed, and a right PIN was before that`()
        async throws
    {
        #expect(try await refusal(.right) == nil)
        let enrollment = try await sample.register(#require(try await sample.allEnrollments().first))
        let key = try #require(enrollment.key.external)
        let card = SampleEnrollment(enrollment: enrollment, publicKey: key.facts.publicKey, token: "token-1")
        try await sample.receive(SampleRequest(userVerification: "required"), for: card)
        let request = try await sample.onlyRequest().id
        #expect(try await sample.refusal(of: request, pin: .wrong)?.code == .userNotVerified)
        try sample.tamper("UPDATE key_tries SET failures = 0")
        #expect(await sample.agent.checkup.findings().contains { $0.weakness == .enrollmentDamaged })
        let refused = try await sample.refusal(of: request, pin: .right)
        #expect(refused?.code == .blocked && refused?.message.contains("enrollment \(card.id)") == true)
        sample.clock.advance(by: 60)
        #expect(try await sample.refusal(of: request, pin: .right)?.code == .blocked)
    }

    @Test(arguments: [false, true])
    func `another secret takes it along`(wasRight: Bool) async throws {
        // Nothing is counted after a right one, and that is sealed as well.
        if wasRight { #expect(try await refusal(.right) == nil) }
        let expected = PINTries(failures: wasRight ? 0 : 4, blockedUntil: nil)
        let new = try AgentSecret.generate()
        try await sample.restarted(secret: new, previous: sample.secret).rotate(by: sample.rewrapper(to: new))
        let last = try sample.restarted(secret: new)
        try await last.agent.prepare()
        #expect(try await tries(in: last) == expected)
        if !wasRight { #expect(try await refusal(.wrong, in: last)?.code == .blocked) }
    }
}
