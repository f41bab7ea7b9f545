import IssuerProtocol
import Keys
import ScratchDirectories
import StoreTables
import TestStores
import Testing

@testable import Authenticator
@testable import Records

/// Somebody ends an enrollment while something else waits for a key or an issuer: it stays ended, and nothing of it is
/// left behind.
@Suite(.timeLimit(.minutes(20)))
struct InterleavingTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent(SamplePush.settings()) }

    /// Ends it and erases it, as `unenroll --local --force --erase` does.
    private func erase(_ id: EnrollmentID) async throws -> Bool? {
        try await sample.running([sample.agent.dataRetention.run]) {
            try await sample.agent.unenroll(id, locally: true, forced: true, erasing: true).isErased
        }
    }

    private func expectGone(_ id: EnrollmentID) async throws {
        let enrollment = try await sample.enrollment(id)
        guard case .ended = enrollment.state else { throw SampleError("\(enrollment.state)") }
        #expect(enrollment.name.isEmpty && enrollment.userHandle.isEmpty && enrollment.credentialKey == nil)
        #expect(enrollment.sealedKey == nil)
        let told = try await sample.journal().map(\.kind).filter {
            [.enrolled, .suspended, .pinChanged, .unenrolled, .erased, .notVerified].contains($0)
        }
        #expect(Array(told.prefix(2)) == [.unenrolled, .erased] && told.dropFirst(2).allSatisfy { $0 == .erased })
        #expect(try await sample.store.read { try $0.subscriptions(of: id) }.isEmpty)
    }

    private func eraseTheFirst() async throws {
        let id = try #require(try await sample.allEnrollments().first).id
        #expect(try await erase(id) == true)
    }

    @Test func `while the key of an enrollment is made there is nothing of it that anybody could end`() async throws {
        try await sample.issuer.enrolls()
        await sample.issuer.setVAPIDKey(try SamplePush().vapid.point)
        let rows = Box<[Int]>([])
        let look: @Sendable () async throws -> Void = { [sample] in
            let count = try await sample.allEnrollments().count
            rows.change { $0.append(count) }
        }
        sample.custody.beforeMaking(look)
        sample.custody.beforeOpening(look)
        let id = try await sample.agent.enroll(sample.parameters(), patience: 0).id
        #expect(rows.value == [0, 0])
        #expect(try await sample.enrollment(id).sealedKey != nil)
        #expect(try await sample.store.read { try $0.subscriptions(of: id) }.count == 1)
        sample.custody.beforeOpening(nil)
        #expect(try await erase(id) == true)
        try await expectGone(id)
    }

    @Test func `erased while its key signs, nothing leaves`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let request = try await sample.onlyRequest().id
        sample.custody.beforeSigning { try await eraseTheFirst() }
        #expect(try await failureCode { try await sample.approve(request) } == .noLongerDecidable)
        #expect(try await sample.outbox(of: card).isEmpty)
        try await expectGone(card.id)
    }

    @Test func `erased while its PIN is changed, it has no key, and the PIN is not said to be changed`() async throws {
        let card = try await sample.enrolled(authnType: .pin, pin: .right)
        sample.custody.beforeOpening { try await eraseTheFirst() }
        let code = try await failureCode {
            try await sample.agent.changePIN(of: card.id, from: .right, to: PIN(Secret(Array("2468".utf8))))
        }
        #expect(code == .notEnrolled)
        try await expectGone(card.id)
    }

    @Test func `erased while a wrong PIN is tried, the try is not written to it`() async throws {
        let (card, request) = try await sample.enrolledWithPIN()
        sample.custody.beforeOpening {
            try await eraseTheFirst()
            throw CustodyError(.unavailable, "it is gone")
        }
        #expect(try await sample.refusal(of: request, pin: .wrong) != nil)
        try await expectGone(card.id)
    }

    @Test func `ended while the issuer is asked for its signCount, it is not raised`() async throws {
        let card = try await sample.enrolled()
        await sample.issuer.onStatus { [sample] (_) throws(IssuerError) in
            _ = try? await sample.agent.unenroll(card.id, locally: true, forced: true)
            return 41
        }
        let kinds = try await sample.recorded { await sample.agent.signCountWatch.ensureChecked(card.id) }
        #expect(kinds.contains(.unenrolled) && !kinds.contains(.signCountRaised))
        #expect(try await sample.enrollment(card.id).signCountRaise == nil)
    }

    @Test func `erased while its push subscription is rotated, it gets none`() async throws {
        await sample.issuer.setVAPIDKey(try SamplePush().vapid.point)
        let card = try await sample.enrolled()
        await sample.issuer.onDiscovery { () throws(IssuerError) in
            guard (try? await eraseTheFirst()) != nil else { throw .down }
        }
        #expect(try await failureCode { _ = try await sample.agent.rotatePush(card.id) } == .invalidArgument)
        try await expectGone(card.id)
        #expect(await sample.issuer.subscriptions.isEmpty)
    }

    @Test(.ofSQLite) func `erased while the secret is changed, its token does not come back`() async throws {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        let new = try AgentSecret.generate()
        let rotating = try sample.restarted(secret: new, previous: sample.secret)
        rotating.store.beforeWriting { [sample] in
            guard try await !sample.enrollment(card.id).isOver else { return }
            try await sample.change(card.id, .ended(at: sample.now))
        }
        try await rotating.rotate(by: sample.rewrapper(to: new))
        #expect(try await sample.enrollment(card.id).membership == nil)
        #expect(try await sample.enrollment(card.id).isOver)
    }
}
