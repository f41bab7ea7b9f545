import IssuerProtocol
import Keys
import StoreTables
import Testing
import TextAndTime

@testable import Authenticator
@testable import Journal
@testable import Records

/// Whoever reads the journal sees when the address changed that an issuer pushes to, and never the address.
@Suite(.timeLimit(.minutes(20)))
struct PushJournalTests {
    private let push: SamplePush

    init() throws { push = try SamplePush() }

    /// As the journal has an endpoint.
    private func digest(_ sent: PushSubscription) throws -> String {
        Base64URL.encode(try SHA256Digest.of(Array(sent.endpoint.text.utf8)))
    }

    /// The entries about push that the body adds: kind and endpoint.
    private func told(_ sample: SampleAgent, _ body: () async throws -> Void) async throws -> [[String]] {
        let before = try await sample.journal().count
        try await body()
        return try await sample.journal().dropFirst(before).filter { $0.text("endpoint") != nil }.map { entry in
            [entry.kind.rawValue, entry.text("endpoint") ?? ""]
        }
    }

    @Test func `a registration tells of the subscription that it carries, before and after the answer`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        await sample.issuer.setVAPIDKey(push.vapid.point)
        try await sample.issuer.enrolls()
        let kinds = try await sample.recorded {
            try await sample.running([sample.agent.registrationDelivery.run]) {
                _ = try await sample.agent.enroll(sample.parameters(), patience: 10)
            }
        }
        #expect(kinds == [.auditKeyMade, .pushMade, .enrolled, .pushRegistered])
        let body = try #require(await sample.issuer.registrations.first)
        let sent = try #require(try EnrollmentRequest(bytes: body).pushSubscription)
        for kind in [JournalFact.Kind.pushMade, .pushRegistered] {
            let entry = try await sample.newest(kind)
            #expect(try entry.text("endpoint") == digest(sent))
            #expect(try await entry.text("enrollment") == sample.agent.enrollments().first?.id.text)
        }
    }

    @Test func `a registration that is given up tells that its subscription is gone`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        await sample.issuer.setVAPIDKey(push.vapid.point)
        try await sample.issuer.enrolls()
        await sample.issuer.onEnrollment { (_) throws(IssuerError) in throw .problem(.invalidRegistration) }
        let kinds = try await sample.recorded {
            try await sample.running([sample.agent.registrationDelivery.run]) {
                await #expect(throws: CommandError.self) {
                    _ = try await sample.agent.enroll(sample.parameters(), patience: 10)
                }
                let id = try #require(try await sample.newest(.pushMade).text("enrollment").flatMap(EnrollmentID.init))
                try await sample.eventually { try $0.enrollment(id)?.isOver == true ? true : nil }
            }
        }
        #expect(kinds == [.auditKeyMade, .pushMade, .enrollmentGivenUp, .pushRemoved])
    }

    @Test func `a rotation tells of the new one, that the issuer has it, and that the old one is gone`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, old) = try await sample.subscribed(push)
        let told = try await told(sample) {
            try await sample.running([sample.agent.pushSubscriber.run]) {
                let open = try await sample.agent.rotatePush(card.id)
                #expect(open.isEmpty)
            }
        }
        let new = try digest(try await sample.subscription())
        #expect(try told == [["pushMade", new], ["pushRegistered", new], ["pushRemoved", digest(old)]])
    }

    @Test func `another address at start is told like a rotation`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (_, old) = try await sample.subscribed(push)
        let moved = try sample.restarted(settings: SamplePush.settings("https://elsewhere.example"))
        let told = try await told(sample) {
            try await moved.running([moved.agent.pushSubscriber.run]) { try await moved.clock.sleepers() }
        }
        let new = try digest(try await sample.subscription())
        #expect(try told == [["pushMade", new], ["pushRegistered", new], ["pushRemoved", digest(old)]])
    }

    @Test func `one that the issuer never answered for is told as gone when the next takes its place`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        await sample.issuer.setVAPIDKey(push.vapid.point)
        _ = try await sample.enrolled()
        await sample.issuer.onSubscription { (_) throws(IssuerError) in throw .down }
        try await sample.running([sample.agent.pushSubscriber.run]) { try await sample.clock.wakeNext() }
        let unanswered = try digest(try await sample.subscription())
        #expect(try await sample.newest(.pushMade).text("endpoint") == unanswered)
        await sample.issuer.onSubscription { (_) throws(IssuerError) in }
        let moved = try sample.restarted(settings: SamplePush.settings("https://elsewhere.example"))
        let told = try await told(sample) {
            try await moved.running([moved.agent.pushSubscriber.run]) { try await moved.clock.sleepers() }
        }
        let new = try digest(try await sample.subscription())
        #expect(told == [["pushRemoved", unanswered], ["pushMade", new], ["pushRegistered", new]])
    }

    @Test func `switched off, and unenrolled, it is told as gone`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, first) = try await sample.subscribed(push)
        let off = try sample.restarted(settings: AgentSettings(version: "1.2.3"))
        let whenOff = try await told(sample) {
            try await off.running([off.agent.pushSubscriber.run]) { try await off.clock.sleepers() }
        }
        #expect(try whenOff == [["pushRemoved", digest(first)]])

        let again = try off.restarted(settings: SamplePush.settings())
        try await again.running([again.agent.pushSubscriber.run]) { try await again.settled(card.id) }
        let second = try await sample.subscription()
        let kinds = try await sample.recorded {
            _ = try await again.agent.unenroll(card.id, locally: false, forced: false)
        }
        #expect(kinds == [.unenrolled, .pushRemoved])
        #expect(try await sample.newest(.pushRemoved).text("endpoint") == digest(second))
    }

    @Test func `neither address nor keys are in the journal, and it verifies`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, sent) = try await sample.subscribed(push)
        _ = try await sample.agent.unenroll(card.id, locally: false, forced: false)
        let rows = try await sample.store.real.read { try $0.journal(after: 0, limit: 1_000) }
        let auth = unsafe sent.recipient.auth.withBytes { unsafe Base64URL.encode(Array($0)) }
        let token = try #require(sent.endpoint.text.split(separator: "/").last.map(String.init))
        let secrets = [SamplePush.url, token, auth, Base64URL.encode(sent.recipient.p256dh)]
        for row in rows {
            let text = String(decoding: row.bytes, as: UTF8.self)
            for secret in secrets { #expect(!text.contains(secret)) }
        }
        #expect(rows.count == 5)
        #expect(try await sample.agent.journal.verify().fault == nil)
    }
}
