import IssuerProtocol
import Keys
import ScratchDirectories
import StoreTables
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// A registration is sent until its issuer has answered.
@Suite(.timeLimit(.minutes(20)))
struct RegistrationDeliveryTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func begun() async throws -> EnrollmentID {
        try await sample.issuer.enrolls()
        return try await sample.agent.enroll(sample.parameters(), patience: 0).id
    }

    private func state(of id: EnrollmentID, in agent: SampleAgent? = nil) async throws -> EnrollmentState {
        try await (agent ?? sample).eventually { store in
            guard let state = try store.enrollment(id)?.state else { return nil }
            if case .enrolling = state { return nil }
            return state
        }
    }

    @Test func `who enrolls gets the enrollment once the issuer has taken it`() async throws {
        try await sample.issuer.enrolls()
        try await sample.running([sample.agent.registrationDelivery.run]) {
            let enrollment = try await sample.agent.enroll(sample.parameters(), patience: 10)
            let membership = try #require(enrollment.membership)
            #expect(membership.authenticatorId.text == "authenticator-1")
            #expect(try sample.ports.sealing.open(membership.sealedToken, for: enrollment.id).reveal() == "token-1")
            #expect(!String(decoding: membership.sealedToken, as: UTF8.self).contains("token-1"))
        }
    }

    @Test func `if the answer is lost the same bytes are sent again, after a restart too`() async throws {
        let id = try await begun()
        await sample.issuer.onEnrollment { (_) throws(IssuerError) in throw .down }
        try await sample.running([sample.agent.registrationDelivery.run]) {
            try await sample.clock.wakeNext()
            try await sample.clock.sleepers()
        }
        try await sample.issuer.enrolls()
        let later = try sample.restarted()
        try await later.agent.prepare()
        try await later.running([later.agent.registrationDelivery.run]) {
            guard case .active = try await state(of: id, in: later) else { throw SampleError("not active") }
        }
        let bodies = await sample.issuer.registrations
        #expect(bodies.count == 3 && Set(bodies).count == 1)
        #expect(try await sample.enrollment(id).sealedKey != nil)
    }

    @Test func `if the store fails after the answer, it is written as soon as that can be`() async throws {
        let id = try await begun()
        let answer = try ScriptedIssuer.enrollmentAnswer
        await sample.issuer.onEnrollment { [sample] (_) throws(IssuerError) in
            sample.store.breakWrites()
            return answer
        }
        try await sample.running([sample.agent.registrationDelivery.run]) {
            // Longer than a registration is repeated: what the issuer has taken is not given up.
            try await sample.storeRecovered(after: 700)
            guard case .active = try await state(of: id) else { throw SampleError("not active") }
        }
        #expect(await sample.issuer.registrations.count == 1)
    }

    @Test func `after 10 minutes it is given up, the key is removed and the reason is kept`() async throws {
        let id = try await begun()
        await sample.issuer.onEnrollment { (_) throws(IssuerError) in
            throw .transient(reason: "busy", retryAfter: 500)
        }
        try await sample.running([sample.agent.registrationDelivery.run]) {
            #expect(try await sample.clock.wakeNext() == 500)
            #expect(try await sample.enrollment(id).sealedKey != nil)
            #expect(try await sample.clock.wakeNext() == 100)
            guard case .ended = try await state(of: id) else { throw SampleError("not ended") }
        }
        #expect(try await sample.enrollment(id).sealedKey == nil)
        #expect(try await sample.enrollment(id).endReason?.contains("10 minutes") == true)
        #expect(await sample.issuer.registrations.count == 2)
    }

    @Test(arguments: [.invalidEnrollmentCode, .ceremonyExpired, .invalidRegistration] as [ProblemCode])
    func `a problem of the ceremony ends it, and who enrolls is told`(code: ProblemCode) async throws {
        try await sample.issuer.enrolls()
        await sample.issuer.onEnrollment { (_) throws(IssuerError) in throw .problem(code) }
        try await sample.running([sample.agent.registrationDelivery.run]) {
            let failure = try await #require(throws: CommandError.self) {
                _ = try await sample.agent.enroll(sample.parameters(), patience: 10)
            }
            if code == .invalidEnrollmentCode {
                #expect(
                    failure.code == .invalidEnrollmentCode && failure.message.contains("Ask the issuer for a new one"))
            } else {
                #expect(failure.code == .issuerRefused && failure.message.contains(code.rawValue))
            }
        }
        #expect(try await sample.allEnrollments().map(\.sealedKey) == [nil])
        #expect(await sample.issuer.registrations.count == 1)
        #expect(try await sample.agent.enrollments().isEmpty)
    }

    @Test(arguments: [.invalidToken, .unknownRequest, .unknownAuthenticator] as [ProblemCode])
    func `a problem of another call is repeated like a broken connection`(code: ProblemCode) async throws {
        let id = try await begun()
        let answer = try ScriptedIssuer.enrollmentAnswer
        await sample.issuer.onEnrollment { [sample] (_) throws(IssuerError) in
            guard await sample.issuer.registrations.count > 1 else { throw .problem(code) }
            return answer
        }
        try await sample.running([sample.agent.registrationDelivery.run]) {
            try await sample.clock.wakeNext()
            guard case .active = try await state(of: id) else { throw SampleError("not active") }
        }
    }

    @Test func `an answer that comes after the enrollment was ended is taken back at the issuer`() async throws {
        let id = try await begun()
        let gate = Channel<Void>()
        let answer = try ScriptedIssuer.enrollmentAnswer
        await sample.issuer.onEnrollment { (_) throws(IssuerError) in
            try await gate.answer()
            return answer
        }
        try await sample.running([sample.agent.registrationDelivery.run]) {
            _ = try await sample.issuer.enrolled.next()
            _ = try await sample.agent.unenroll(id, locally: true, forced: true)
            let fetches = sample.agent.hub.notifier { $0.kind == .enrolled }
            gate.send(())
            // Another ceremony shows that the answer was dealt with, since each has its turn.
            try await sample.issuer.enrolls()
            _ = try await sample.agent.enroll(sample.parameters(), patience: 10)
            withExtendedLifetime(fetches) {}
        }
        #expect(await sample.issuer.unenrollments == ["token-1"])
        #expect(try await sample.enrollment(id).isOver)
        #expect(try await sample.enrollment(id).sealedKey == nil)
    }
}
