import FoundationEssentials
import IssuerProtocol
import Keys
import ScratchDirectories
import SoftKeys
import StoreTables
import StrictJSON
import TestStores
import Testing
import TextAndTime

@testable import Authenticator
@testable import Journal
@testable import Records

/// Wrong PINs of a key that was there already are counted for the key, through whatever enrollment, or none.
@Suite(.timeLimit(.minutes(20)))
struct KeyTriesTests {
    private let sample: SampleAgent
    private let uri: KeyURI

    /// With a key file of somebody's under the passphrase 736251.
    init() throws {
        sample = try SampleAgent()
        uri = try KeyURI("file:" + sample.directory.path + "/their.pem")
        try ProgramRun.output(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass"]
                + ["pass:736251", "-out", sample.directory.path + "/their.pem"])
    }

    private func parameters(_ pin: PIN, at uri: KeyURI? = nil) throws -> EnrollmentParameters {
        EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: .pin, name: "my card",
            keyURI: uri ?? self.uri, pin: pin)
    }

    /// What an enrollment with that PIN fails with; nil if it does not.
    private func refusal(_ pin: PIN, at uri: KeyURI? = nil, in agent: SampleAgent? = nil) async throws
        -> CommandError?
    {
        do {
            _ = try await (agent ?? sample).agent.enroll(parameters(pin, at: uri), patience: 0)
            return nil
        } catch let failure as CommandError {
            return failure
        }
    }

    private func codes(_ pins: [PIN]) async throws -> [CommandError.Code?] {
        var codes: [CommandError.Code?] = []
        for pin in pins { codes.append(try await refusal(pin)?.code) }
        return codes
    }

    /// Enrolls with that key, and lets a request wait.
    private func enrolled() async throws -> (card: SampleEnrollment, request: RequestID) {
        try await sample.issuer.enrolls()
        let enrollment = try await sample.register(sample.agent.enroll(parameters(.right), patience: 0))
        let key = try #require(enrollment.key.external)
        let card = SampleEnrollment(enrollment: enrollment, publicKey: key.facts.publicKey, token: "token-1")
        try await sample.receive(SampleRequest(userVerification: "required"), for: card)
        return (card, try await sample.onlyRequest().id)
    }

    private func tries(of card: SampleEnrollment) async throws -> PINTries {
        try await sample.enrollment(card.id).pinTries
    }

    @Test func `wrong ones at enroll are counted and block, also across restarts, and the issuer is not asked`()
        async throws
    {
        try await sample.issuer.enrolls()
        let wrong = try PIN.wrong
        #expect(
            try await codes(Array(repeating: wrong, count: 5))
                == [.userNotVerified, .userNotVerified, .userNotVerified, .userNotVerified, .blocked])
        let refused = try await refusal(.right)
        #expect(refused?.code == .blocked && refused?.message.contains("the key \(uri.text) is blocked") == true)
        sample.clock.advance(by: 59)
        #expect(try await refusal(.right, in: sample.restarted())?.code == .blocked)
        #expect(await sample.issuer.codes.isEmpty)
        sample.clock.advance(by: 1)
        let restarted = try sample.restarted()
        #expect(try await refusal(wrong, in: restarted)?.code == .blocked)
        sample.clock.advance(by: 119)
        #expect(try await refusal(.right, in: restarted)?.code == .blocked)
        sample.clock.advance(by: 1)
        #expect(try await refusal(.right, in: restarted) == nil)
        #expect(try await sample.allEnrollments().map(\.pinTries) == [.fresh])
    }

    @Test func `the journal has each wrong one and each block, by a digest of the key`() async throws {
        _ = try await codes(Array(repeating: .wrong, count: 5))
        let entries = try await sample.journal().filter { $0.kind == .notVerified || $0.kind == .blocked }
        #expect(entries.map(\.kind) == Array(repeating: .notVerified, count: 5) + [.blocked])
        #expect(entries.map { $0.json["failures"] } == [1, 2, 3, 4, 5, 5])
        let identity = try await sample.ports.externalKeys.sighting(uri).identity
        #expect(
            entries.allSatisfy { $0.text("key") == Base64URL.encode(identity.bytes) && $0.text("enrollment") == nil })
        #expect(try await sample.agent.journal.events(after: .beginning).events.isEmpty, "no enrollment is blocked")
        #expect(try await sample.agent.journal.verify().fault == nil)
    }

    @Test func `of many wrong ones at once five are tried`() async throws {
        let codes = try await withThrowingTaskGroup(of: CommandError.Code?.self) { group in
            for _ in 0..<12 { group.addTask { try await refusal(.wrong)?.code } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == .userNotVerified } == 4 && codes.count { $0 == .blocked } == 8)
        #expect(try await sample.journal().count { $0.kind == .notVerified } == 5)
    }

    @Test func `a key that an enrollment uses is refused before any PIN is tried, however its URI is spelled`()
        async throws
    {
        let (card, _) = try await enrolled()
        let folder = sample.directory.path
        try FileManager.default.createSymbolicLink(atPath: folder + "/way", withDestinationPath: folder)
        for text in ["file:\(folder)/their.pem", "FILE://\(folder)/./thei%72.pem", "file:\(folder)/way/their.pem"] {
            let refused = try await refusal(.wrong, at: KeyURI(text))
            #expect(refused?.code == .alreadyEnrolled && refused?.message.contains("\(card.id)") == true)
        }
        #expect(try await tries(of: card) == .fresh)
        #expect(try await sample.journal().allSatisfy { $0.kind != .notVerified })
        #expect(await sample.issuer.codes.count == 1)
    }

    @Test func `the count goes from one enrollment to none and to the next`() async throws {
        let (card, request) = try await enrolled()
        for _ in 0..<3 { _ = try await sample.refusal(of: request, pin: .wrong) }
        #expect(try await tries(of: card).failures == 3)
        _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        #expect(try await codes([.wrong, .wrong, .right]) == [.userNotVerified, .blocked, .blocked])
        sample.clock.advance(by: 60)
        #expect(try await refusal(.right) == nil)
    }

    @Test func `an approval is blocked by what was tried before, and a right PIN ends it`() async throws {
        let (card, request) = try await enrolled()
        let identity = try #require(card.enrollment.key.external?.identity)
        let tries = PINTries(failures: 5, blockedUntil: sample.now + 60)
        try await sample.store.write { _ = try $0.setPINTries(of: identity, from: .fresh, to: tries) }
        for pin in [try PIN.right, nil] {
            #expect(try await sample.refusal(of: request, pin: pin)?.code == .blocked)
        }
        #expect(sample.agent.blockedUntil(try await sample.enrollment(card.id)) == sample.now + 60)
        sample.clock.advance(by: 60)
        #expect(try await sample.refusal(of: request, pin: .right) == nil)
        #expect(try await self.tries(of: card) == .fresh)
    }

    @Test func `of two enrollments with one key the second is tried when the first is over, and neither is counted`()
        async throws
    {
        let card = try await enrolled().card
        let twin = try await sample.enrolled("twin", authnType: .pin, at: card.enrollment.key)
        let key = try #require(card.enrollment.key.external?.identity)
        let (check, queues) = (PINCheck(ports: sample.agent.ports.decision), sample.agent.ports.decision.keyQueues)
        let (begun, counts) = (Box(0), Box<[Int]>([]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for each in [card, twin] {
                group.addTask { [sample] in
                    try await check.tryPIN(each.enrollment) {
                        // The first one has the key until the second waits for it, or has it too.
                        if begun.next() == 1 {
                            while queues.waiterCount(for: key) < 1, begun.value == 1, !Task.isCancelled {
                                await Task.yield()
                            }
                        }
                        let tries = try await sample.store.real.read { try $0.pinTries(of: key) }
                        counts.change { $0.append(tries.failures) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(counts.value == [1, 1])
        #expect(try await tries(of: card) == .fresh)
    }

    @Test func `a key that is not there costs no try`() async throws {
        let gone = try KeyURI("file:" + sample.directory.path + "/none.pem")
        #expect(try await refusal(.wrong, at: gone)?.code == .keyUnavailable)
        #expect(try await sample.journal().allSatisfy { $0.kind != .notVerified })
    }

    @Test func `a PIN that the key was asked with and never answered stays counted`() async throws {
        let (card, request) = try await enrolled()
        sample.custody.beforeOpening { throw CustodyError(.silent, "the token has not answered") }
        #expect(try await sample.refusal(of: request, pin: .right)?.code == .keyUnavailable)
        #expect(try await tries(of: card).failures == 1)
        sample.custody.beforeOpening { throw CustodyError(.unavailable, "the token is not there") }
        #expect(try await sample.refusal(of: request, pin: .right)?.code == .keyUnavailable)
        #expect(try await tries(of: card).failures == 1)
        sample.custody.beforeOpening(nil)
        #expect(try await sample.refusal(of: request, pin: .right) == nil)
        #expect(try await tries(of: card) == .fresh)
    }

    @Test func `a try whose outcome the agent did not live to write counts as a wrong one at the next start, once`()
        async throws
    {
        let (card, request) = try await enrolled()
        // The PIN is right, and nothing can be written any more when the key is open.
        sample.custody.beforeOpening { [sample] in sample.store.breakWrites() }
        await #expect(throws: (any Error).self) { try await sample.approve(request, pin: .right) }
        sample.store.breakWrites(false)
        let left = try await tries(of: card)
        #expect(left.failures == 1 && left.underWay != nil)
        for _ in 1...2 {
            let again = try sample.restarted()
            try await again.agent.prepare()
            #expect(try await again.enrollment(card.id).pinTries == PINTries(failures: 1, blockedUntil: nil))
            #expect(try await again.journal().filter { $0.kind == .notVerified }.count == 1)
            #expect(try await again.agent.journal.verify().fault == nil)
        }
        let last = try sample.restarted()
        try await last.approve(request, pin: .right)
        #expect(try await last.enrollment(card.id).pinTries == .fresh)
    }

    /// On PostgreSQL the host is alpha, and a host of another name is another's.
    @Test(arguments: StoreKind.current == .postgres ? [""] : ["", "beta"])
    func `a try that was under way before the state was moved counts as a wrong one at the next start`(host: String)
        async throws
    {
        let (card, _) = try await enrolled()
        let identity = try #require(card.enrollment.key.external?.identity)
        let begun = PINTries(failures: 2, blockedUntil: nil, underWay: host)
        try await sample.store.write { _ = try $0.setPINTries(of: identity, from: .fresh, to: begun) }
        try await sample.restarted().agent.prepare()
        #expect(try await tries(of: card) == PINTries(failures: 2, blockedUntil: nil))
        #expect(try await sample.newest(.notVerified).number("failures") == 2)
    }

    @Test func `a right one counts as right also if whoever asked is cut off before that is written`() async throws {
        let key = try #require(KeyIdentity(bytes: Array(repeating: 7, count: 32)))
        let check = PINCheck(ports: sample.agent.ports.decision)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await check.tryPIN(PINTries.Subject(key)) { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            }
            try await group.waitForAll()
        }
        #expect(try await sample.store.real.read { try $0.pinTries(of: key) } == .fresh)
    }

    @Test func `a wrong one is in the journal also if whoever asked is cut off before that is written`() async throws {
        let key = try #require(KeyIdentity(bytes: Array(repeating: 7, count: 32)))
        let check = PINCheck(ports: sample.agent.ports.decision)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                _ = try? await check.tryPIN(PINTries.Subject(key)) {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    throw CustodyError(.wrongPIN, "it does not open")
                }
            }
        }
        #expect(try await sample.newest(.notVerified).number("failures") == 1)
        #expect(
            try await sample.store.real.read { try $0.pinTries(of: key) } == PINTries(failures: 1, blockedUntil: nil))
    }
}
