import IssuerProtocol
import Keys
import ScratchDirectories
import StoreTables

@testable import Authenticator
@testable import Journal
@testable import Records

/// An enrollment with what its issuer knows of it.
struct SampleEnrollment: Sendable {
    let enrollment: Enrollment
    let publicKey: PublicKey
    let token: String

    var id: EnrollmentID { enrollment.id }
}

extension SampleAgent {
    static var target: IssuerTarget {
        get throws { IssuerTarget(issuer: try IssuerURL("https://issuer.example"), rootsPEM: nil) }
    }

    /// Puts an enrollment with a real key into the store, as after a registration that the issuer took.
    func enrolled(
        _ name: String = "card", called title: String? = nil, authnType: AuthnType = .presence,
        target: IssuerTarget? = nil, pin: PIN? = nil, at place: KeyPlace = .own
    ) async throws -> SampleEnrollment {
        let id = try EnrollmentID(random: ports.entropy)
        let made = try await custody.makeKey(of: id, algorithm: .es256, pin: pin)
        guard let authenticatorId = TokenID("authenticator-\(name)"), let token = AccessToken("token-\(name)") else {
            throw SampleError("no id of \(name)")
        }
        let membership = Membership(
            authenticatorId: authenticatorId, sealedToken: try ports.sealing.seal(token, for: id), enrolledAt: now)
        let enrollment = Enrollment(
            id: id, target: try target ?? Self.target, name: title ?? name, authnType: authnType, algorithm: -7,
            rpId: "issuer.example", credentialId: try ports.entropy.bytes(32), userHandle: Array("user".utf8),
            startedAt: now, key: place, credentialKey: place == .own ? made.publicKey : nil,
            sealedKey: place == .own ? made.sealed : nil, signCount: 0, state: .active(membership))
        // The journal's head vouches for the row, so there has to be one.
        if try await store.real.read({ try $0.journalMark(.head) }) == nil {
            try await agent.journal.store.write { _ in }
        }
        try await store.write { try $0.insert(enrollment) }
        return SampleEnrollment(enrollment: enrollment, publicKey: made.publicKey, token: token.reveal())
    }

    /// Puts other bytes in the place of an enrollment's sealed key, in a row that is as the agent would write it.
    ///
    /// - Returns: the key that was there.
    @discardableResult
    func replaceKey(of id: EnrollmentID, by bytes: [UInt8] = []) async throws -> [UInt8] {
        guard let sealed = try await enrollment(id).sealedKey else { throw SampleError("no key") }
        try await change(id, .keyResealed(Resealing(from: sealed, to: bytes)))
        return sealed
    }

    func enrollment(_ id: EnrollmentID) async throws -> Enrollment {
        guard let enrollment = try await store.real.read({ try $0.enrollment(id) }) else {
            throw SampleError("no enrollment")
        }
        return enrollment
    }

    /// - Returns: the enrollment as it is then.
    @discardableResult
    func change(_ id: EnrollmentID, _ transition: EnrollmentTransition) async throws -> Enrollment {
        guard let changed = try await store.real.write({ try $0.change(id, transition) }) else {
            throw SampleError("the enrollment is not as \(transition) expects")
        }
        return changed
    }

    /// Lets it be as its issuer has taken it.
    func register(_ enrollment: Enrollment) async throws -> Enrollment {
        let answer = try ScriptedIssuer.enrollmentAnswer
        let sealed = try ports.sealing.seal(answer.accessToken, for: enrollment.id)
        return try await change(
            enrollment.id,
            .registered(Membership(authenticatorId: answer.authenticatorId, sealedToken: sealed, enrolledAt: now)))
    }
}
