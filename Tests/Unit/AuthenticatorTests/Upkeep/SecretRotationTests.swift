import Custody
import Foundation
import IssuerProtocol
import Keys
import Logging
import ScratchDirectories
import SoftKeys
import StoreTables
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// The secret that everything is under is changed.
@Suite(.timeLimit(.minutes(20)))
struct SecretRotationTests {
    private let sample: SampleAgent
    private let new: AgentSecret

    init() throws {
        sample = try SampleAgent()
        new = try AgentSecret.generate()
    }

    private var old: AgentSecret { sample.secret }

    /// The same state under an agent that is given both secrets.
    private func rotating() throws -> SampleAgent { try sample.restarted(secret: new, previous: old) }

    private func rewrapper() -> SecretRewrapper { sample.rewrapper(to: new) }

    /// Starts an agent with both secrets, and changes all.
    private func rotate(
        _ agent: SampleAgent? = nil, by rewrapper: (any Rewrapper)? = nil,
        onStep: @escaping @Sendable (StartStep) -> Void = { _ in }
    ) async throws {
        let agent = try agent ?? rotating()
        try await agent.rotate(by: rewrapper ?? self.rewrapper(), onStep: onStep)
    }

    /// An agent with one secret starts, and approves for each of these.
    private func expectApprovals(_ cards: [SampleEnrollment], under secret: AgentSecret) async throws {
        let later = try sample.restarted(secret: secret)
        try await later.agent.prepare()
        for card in cards {
            let number = Int.random(in: 1...1_000_000)
            try await later.receive(.numbered(number), for: card)
            let request = try await later.requests().last
            #expect(try await later.approve(try #require(request).id).life.state == .approved)
        }
    }

    /// The sealed key of each enrollment.
    private func sealedKeys() async throws -> [[UInt8]?] { try await sample.allEnrollments().map(\.sealedKey) }

    private func label(_ card: SampleEnrollment) -> String { "credential key \(card.id.text)" }

    @Test func `all is under the new secret alone, and goes on`() async throws {
        try await sample.agent.prepare()
        let cards = [try await sample.enrolled("a"), try await sample.enrolled("b", authnType: .test)]
        try await sample.change(try await sample.enrolled("c").id, .suspended)
        try await rotate()
        await #expect(throws: SealError.notSealedByThisSecret) { try await sample.restarted().agent.prepare() }
        for card in cards {
            let sealed = try #require(try await rotating().enrollment(card.id).sealedKey)
            #expect(throws: SealedKeyError.self) { try old.checkKey(sealed, label: label(card)) }
        }
        let after = try sample.restarted(secret: new)
        let tokens = try await after.allEnrollments().compactMap { enrollment in
            try enrollment.membership.map { try after.ports.sealing.open($0.sealedToken, for: enrollment.id).reveal() }
        }
        #expect(tokens == ["token-a", "token-b", "token-c"])
        try await expectApprovals(cards, under: new)
    }

    @Test(arguments: [false, true])
    func `an enrollment that has no token yet is as the agent wrote it under the new secret`(
        isKeyTheirs: Bool
    ) async throws {
        try await sample.agent.prepare()
        _ = try await sample.enrolled()
        try await sample.issuer.enrolls()
        // Of a key that was there already, nothing but the row is under the secret.
        let file = sample.directory.path + "/their.pem"
        try ProgramRun.output(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", file])
        let parameters = EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: .presence, name: "my card",
            keyURI: isKeyTheirs ? try KeyURI("file:" + file) : nil)
        let begun = try await sample.agent.enroll(parameters, patience: 0)
        try await rotate()
        let later = try sample.restarted(secret: new)
        try await later.agent.prepare()
        #expect(try await !later.enrollment(begun.id).isDamaged)
    }

    @Test func `a key with a PIN follows, and nobody enters it`() async throws {
        try await sample.agent.prepare()
        let pin = try PIN(Secret(Array("2468".utf8)))
        let card = try await sample.enrolled(authnType: .pin, pin: pin)
        try await rotate()
        let sealed = try #require(try await rotating().enrollment(card.id).sealedKey)
        let key = try new.openKey(sealed, label: label(card), pin: pin)
        #expect(key.publicKey == card.publicKey)
    }

    @Test func `wherever it is cut short, it is finished at the next start`() async throws {
        var cuts = 0
        while try await SecretRotationTests().isCut(after: cuts) { cuts += 1 }
        #expect(
            cuts == 3 * 6 + 4,
            "each key, token and data key, the audit key and the rows' key is looked at, and then brought along")
    }

    /// Cuts a rotation off after so many calls, finishes it, and says whether it was not over by then.
    private func isCut(after calls: Int) async throws -> Bool {
        try await sample.agent.prepare()
        let cards = [try await sample.enrolled("a"), try await sample.enrolled("b"), try await sample.enrolled("c")]
        let failing = FailingRewrapper(real: rewrapper(), calls: Box(calls))
        let isCut = await isStopped(by: failing)
        if isCut {
            // Not all has followed yet, so the new secret alone is refused.
            let early = try sample.restarted(secret: new)
            await #expect(throws: SealError.notSealedByThisSecret) { try await early.agent.prepare() }
            try await rotate()
        }
        try await expectApprovals(cards, under: new)
        return isCut
    }

    private func isStopped(by failing: FailingRewrapper) async -> Bool {
        do {
            try await rotating().rotate(by: failing)
            return false
        } catch {
            return true
        }
    }

    @Test func `at whichever write the disk fails, it is finished at the next start`() async throws {
        var writes = 0
        while try await SecretRotationTests().isBroken(after: writes) { writes += 1 }
        #expect(writes > 4, "rows, data keys, the tries of PINs and the end are written one after the other")
    }

    /// Lets no write through after so many, finishes the change, and says whether it was not over by then.
    private func isBroken(after writes: Int) async throws -> Bool {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        let (first, written) = (try rotating(), Box(0))
        first.store.beforeWriting {
            guard written.next() > writes else { return }
            throw StoreError(.io, at: "the test's disk")
        }
        do {
            try await rotate(first)
            try await expectApprovals([card], under: new)
            return false
        } catch is StoreError {
            // The new secret alone is refused until all has followed.
            await #expect(throws: SealError.notSealedByThisSecret) {
                try await sample.restarted(secret: new).agent.prepare()
            }
            try await rotate()
            try await expectApprovals([card], under: new)
            return true
        }
    }

    @Test func `if one thing opens under neither secret nothing is changed, and it is named`() async throws {
        try await sample.agent.prepare()
        let cards = [try await sample.enrolled("a"), try await sample.enrolled("b")]
        let stranger = try AgentSecret.generate()
        try await sample.replaceKey(
            of: cards[1].id, by: stranger.seal(.generate(.es256), label: label(cards[1])))
        let before = try await sealedKeys()
        let failure = try await #require(throws: RotationError.self) { try await rotate() }
        #expect(failure.description.contains(cards[1].id.text) && failure.description.contains("nothing was"))
        #expect(try await sealedKeys() == before)
        try await sample.restarted().agent.prepare()
        try await expectApprovals([cards[0]], under: old)
    }

    @Test func `two secrets that are both wrong change nothing`() async throws {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        let before = try await sealedKeys()
        let (wrong, other) = (try AgentSecret.generate(), try AgentSecret.generate())
        let rewrapper = SecretRewrapper(by: SecretChange(from: other, to: wrong))
        let failure = try await #require(throws: RotationError.self) {
            try await sample.restarted(secret: wrong, previous: other).agent.prepare(rewrapping: rewrapper)
        }
        #expect(failure.description.contains("the audit key: neither of the two secrets opens it"))
        #expect(try await sealedKeys() == before)
        try await expectApprovals([card], under: old)
    }

    @Test func `what was written over is in none of the store's files`() async throws {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        let token = Data(try #require(card.enrollment.membership).sealedToken)
        let key = Data(try #require(card.enrollment.sealedKey))
        let auditKey = Data(try #require(try await sample.store.read { try $0.sealedAuditKey() }))
        try await rotate()
        // The file is rewritten at the next start, as decisions wait for that.
        #expect(try await sample.store.read { try $0.isScrubDue() } == (StoreKind.current == .sqlite))
        try await sample.restarted(secret: new).agent.prepare()
        for name in try sample.directory.files(in: "") where name.hasPrefix("store.sqlite") {
            let bytes = try Data(contentsOf: URL(filePath: "\(sample.directory.path)/\(name)"))
            for old in [key, token, auditKey] { #expect(bytes.range(of: old) == nil, "\(name)") }
        }
    }

    private func hex(_ bytes: Data) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    /// Whether the bytes are in any of the store's files.
    private func isInFiles(_ bytes: Data) throws -> Bool {
        try sample.directory.files(in: "").filter { $0.hasPrefix("store.sqlite") }.contains { name in
            try Data(contentsOf: URL(filePath: "\(sample.directory.path)/\(name)")).range(of: bytes) != nil
        }
    }

    @Test(.ofSQLite) func `what a crash has left of it goes at the next start, whatever secrets that has`() async throws
    {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        // Old bytes are left behind where pages were split, and not where a row is written over: these are put there.
        let token = Data(try #require(card.enrollment.membership).sealedToken)
        try sample.tamper(
            "PRAGMA secure_delete = OFF; CREATE TABLE old (b BLOB); INSERT INTO old VALUES (x'\(hex(token))'); DROP TABLE old"
        )
        try await rotate()
        #expect(try isInFiles(token))
        let failing = try sample.restarted(secret: new, previous: old)
        failing.store.breakScrub(by: SampleError("cut off"))
        await #expect(throws: SampleError.self) { try await failing.agent.prepare(rewrapping: rewrapper()) }
        #expect(try isInFiles(token))
        try await sample.restarted(secret: new).agent.prepare()
        #expect(try !isInFiles(token))
    }

    @Test func `the store is written anew once, and not at each start with both secrets`() async throws {
        try await sample.agent.prepare()
        _ = try await sample.enrolled()
        try await rotate()
        try await sample.restarted(secret: new).agent.prepare()
        let again = try rotating()
        again.store.breakScrub(by: SampleError("written anew"))
        try await rotate(again)
    }

    @Test func `requests are decided meanwhile, under whichever secret their keys are`() async throws {
        try await sample.agent.prepare()
        let cards = [try await sample.enrolled("a"), try await sample.enrolled("b")]
        let agent = try rotating()
        try await agent.agent.prepare(rewrapping: rewrapper())
        for (number, card) in cards.enumerated() { try await agent.receive(.numbered(number), for: card) }
        let requests = try await agent.requests().map(\.id)
        // One is decided before its key is sealed anew, and the other after.
        try await agent.approve(requests[0])
        try await agent.agent.secretRotation.finish()
        try await agent.approve(requests[1])
        try await agent.deliverAll()
        #expect(await agent.issuer.decisions.count == 2)
        for card in cards {
            let sealed = try #require(try await agent.enrollment(card.id).sealedKey)
            try new.checkKey(sealed, label: label(card))
        }
    }

    @Test(arguments: [false, true])
    func `a key that is sealed anew while it is open signs, and its PIN is changed`(isChanged: Bool) async throws {
        try await sample.agent.prepare()
        let (card, request) = try await sample.enrolledWithPIN()
        let agent = try rotating()
        try await agent.agent.prepare(rewrapping: rewrapper())
        let rotate: @Sendable () async throws -> Void = { [agent = agent.agent] in
            try await agent.secretRotation.finish()
        }
        if isChanged {
            agent.custody.beforeOpening(rotate)
            try await agent.agent.changePIN(of: card.id, from: .right, to: .other)
            agent.custody.beforeOpening(nil)
        } else {
            agent.custody.beforeSigning(rotate)
        }
        #expect(try await agent.approve(request, pin: isChanged ? .other : .right).life.state == .approved)
        #expect(try await agent.tries(of: card) == .fresh)
        try new.checkKey(try #require(try await agent.enrollment(card.id).sealedKey), label: label(card))
    }

    @Test func `a PIN that was right is not counted if the request ends while its key is sealed anew`() async throws {
        try await sample.agent.prepare()
        let (card, request) = try await sample.enrolledWithPIN()
        let agent = try rotating()
        try await agent.agent.prepare(rewrapping: rewrapper())
        agent.custody.beforeSigning { [agent] in
            try await agent.agent.secretRotation.finish()
            try await agent.decide(.deny(.userDenied), request)
        }
        #expect(try await agent.refusal(of: request, pin: .right)?.code == .noLongerDecidable)
        #expect(try await agent.tries(of: card) == .fresh)
    }

    @Test func `what opens under neither secret any more is named, and all else is changed but the end`() async throws {
        try await sample.agent.prepare()
        let cards = [try await sample.enrolled("a"), try await sample.enrolled("b")]
        let agent = try rotating()
        let failing = FailingRewrapper(real: rewrapper(), calls: Box(.max))
        try await agent.agent.prepare(rewrapping: failing)
        failing.unreadable.set(cards[0].id)
        for _ in 1...2 {
            let error = try await #require(throws: RotationError.self) {
                try await agent.agent.secretRotation.finish()
            }
            #expect(error.description.contains("\(cards[0].id)"))
        }
        try new.checkKey(try #require(try await agent.enrollment(cards[1].id).sealedKey), label: label(cards[1]))
        let writes = Box(0)
        agent.store.beforeWriting { _ = writes.next() }
        failing.unreadable.set(nil)
        try await agent.agent.secretRotation.finish()
        #expect(writes.value == 4, "the one row, the data keys, the tries of PINs and the audit key")
        try await expectApprovals(cards, under: new)
    }

    @Test func `what is made meanwhile is under the new secret`() async throws {
        try await sample.agent.prepare()
        let agent = try rotating()
        try await agent.agent.prepare(rewrapping: rewrapper())
        let card = try await agent.enrolled("new")
        try new.checkKey(try #require(card.enrollment.sealedKey), label: label(card))
        try await agent.agent.secretRotation.finish()
        try await expectApprovals([card], under: new)
    }

    @Test func `it is told how far it has come`() async throws {
        try await sample.agent.prepare()
        for name in ["a", "b"] { _ = try await sample.enrolled(name) }
        let steps = Box<[StartStep]>([])
        try await rotate { step in steps.change { $0.append(step) } }
        try await sample.restarted(secret: new).agent.prepare { step in steps.change { $0.append(step) } }
        let scrub = StoreKind.current == .sqlite ? [StartStep.scrubbing, .scrubbed] : []
        #expect(steps.value == [.surveyed(1, of: 2), .surveyed(2, of: 2)] + scrub)
        #expect(
            StartStep.surveyed(1, of: 2).patience == .seconds(120) && StartStep.scrubbing.patience == .seconds(1_800))
    }

    @Test func `it is in the journal, once, and the journal is whole`() async throws {
        try await sample.agent.prepare()
        for name in ["a", "b"] { _ = try await sample.enrolled(name) }
        try await rotate()
        try await rotate()
        let entries = try await sample.journal().filter { $0.kind == .secretChanged }
        #expect(entries.count == 1)
        let text = String(decoding: try #require(entries.first).row.bytes, as: UTF8.self)
        #expect(text.contains(#""keys":2"#) && text.contains(#""tokens":2"#))
        let later = try sample.restarted(secret: new)
        #expect(try await later.agent.journal.verify().fault == nil)
    }

    @Test func `if nothing is under the previous secret that is said, and no key is touched`() async throws {
        try await sample.agent.prepare()
        _ = try await sample.enrolled()
        try await rotate()
        let before = try await sealedKeys()
        let log = WrittenLog()
        let again = try sample.restarted(secret: new, previous: old, log: log.logger)
        try await rotate(again)
        #expect(log.lines(.notice) == ["nothing uses the previous secret any more: remove it"])
        #expect(try await sealedKeys() == before)
    }

    @Test func `tokens are rewritten in database transactions of bounded size`() async throws {
        try await sample.agent.prepare()
        let card = try await sample.enrolled().enrollment
        let count = SecretRotation.step + 1
        for number in 1..<count {
            let id = try #require(EnrollmentID(String(format: "%020x", number)))
            guard let membership = card.membership, let token = AccessToken("token") else { throw SampleError("none") }
            let sealed = Membership(
                authenticatorId: membership.authenticatorId, sealedToken: try sample.ports.sealing.seal(token, for: id),
                enrolledAt: 1)
            let other = Enrollment(
                id: id, target: card.target, name: "", authnType: .presence, algorithm: -7, rpId: card.rpId,
                credentialId: Array(id.text.utf8), userHandle: [1], startedAt: 1, signCount: 0, state: .active(sealed))
            try await sample.store.write { try $0.insert(other) }
        }
        let agent = try rotating()
        try await agent.agent.prepare(rewrapping: rewrapper())
        let writes = Box(0)
        agent.store.beforeWriting { _ = writes.next() }
        try await agent.agent.secretRotation.finish()
        #expect(writes.value == 6, "pieces of rows and data keys, the tries of PINs, and the audit key")
        let tokens = try await agent.allEnrollments().compactMap { enrollment in
            try enrollment.membership.map { try agent.ports.sealing.open($0.sealedToken, for: enrollment.id).reveal() }
        }
        #expect(tokens.count == count)
    }
}

/// Fails at the call of a number, for good; as a process that is killed there.
private struct FailingRewrapper: Rewrapper {
    let real: any Rewrapper
    /// How many calls succeed.
    let calls: Box<Int>
    /// Whose token opens under neither secret.
    let unreadable = Box<EnrollmentID?>(nil)

    private func count() throws {
        let left = calls.change { calls in
            calls -= 1
            return calls
        }
        if left < 0 { throw SampleError("cut off") }
    }

    func token(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]? {
        try count()
        if unreadable.value == name { throw SampleError("it opens under neither") }
        return try real.token(sealed, of: name)
    }

    func pushKey(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]? {
        try count()
        return try real.pushKey(sealed, of: name)
    }

    func rowKey(_ sealed: [UInt8]) throws -> [UInt8]? {
        try count()
        return try real.rowKey(sealed)
    }

    func dataKey(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]? {
        try count()
        return try real.dataKey(sealed, of: name)
    }

    func key(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]? {
        try count()
        return try real.key(sealed, of: name)
    }

    func auditKey(_ sealed: [UInt8]) throws -> [UInt8]? {
        try count()
        return try real.auditKey(sealed)
    }
}
