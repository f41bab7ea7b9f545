import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime
import WebAuthn

/// Accepts the answer to a registration ceremony, once.
///
/// The first body decides the result, valid or not. The same bytes get the same answer again, so that a client may
/// retry. Other bytes get the error that the ceremony has ended.
struct RegistrationController: Sendable {
    /// Seconds for which a repeated body gets the same answer.
    private static let remembered: Int64 = 3_600

    let backend: IssuerBackend

    func accept(_ incoming: Incoming) async throws -> Answer {
        let request = try EnrollmentRequest(bytes: incoming.body)
        if let subscription = request.pushSubscription { try backend.pushPolicy.expectAllowed(subscription) }
        let digest = try SHA256Digest.of(incoming.body)
        let site = try backend.site.get()
        let now = backend.now
        let fresh = FreshEnrollment(
            id: try backend.dependencies.randomID(), token: Base64URL.encode(try backend.dependencies.random(32)))
        let answer = try await backend.store.queue.write { db in
            var ceremony = try Self.ceremony(request.ceremonyId, digest: digest, now: now, db)
            if let given = ceremony.answer { return given }
            let answer: Answer
            do {
                answer = try Self.enroll(request, in: ceremony, as: fresh, site: site, now: now, db)
            } catch let refusal as SandboxError {
                answer = .problem(refusal)
            }
            (ceremony.bodyDigest, ceremony.expiresAt) = (Blob(wrappedValue: digest), now + Self.remembered)
            (ceremony.answerStatus, ceremony.answerBody) = (answer.status, Blob(wrappedValue: answer.body))
            try ceremony.update(db)
            return answer
        }
        backend.notifier.notify(.anything)
        return answer
    }

    private static func ceremony(
        _ id: String, digest: [UInt8], now: Int64, _ db: Database
    ) throws -> CeremonyRecord {
        guard let found = try CeremonyRecord.row(db, "WHERE id = ?", [id]), now < found.expiresAt,
            found.bodyDigest == nil || found.bodyDigest?.wrappedValue == digest
        else {
            throw SandboxError.listed(.ceremonyExpired, "the ceremony is over or unknown")
        }
        return found
    }

    private static func enroll(
        _ request: EnrollmentRequest, in ceremony: CeremonyRecord, as fresh: FreshEnrollment, site: IssuerSite,
        now: Int64, _ db: Database
    ) throws -> Answer {
        guard let code = try EnrollmentCodeRecord.find(ceremony.code, db), code.usedAt == nil else {
            throw SandboxError.listed(.ceremonyExpired, "another ceremony used the enrollment code")
        }
        let verified = try verify(request, in: ceremony, under: code, at: site)
        try refuseKnown(verified.credentialId, db)
        try db.execute(
            sql: "UPDATE enrollmentCode SET usedAt = ? WHERE code = ?", arguments: [now, code.code])
        try insert(
            request, verified: verified, in: ceremony, under: code, as: fresh, origin: site.origin, now: now, db)
        try PushSubscriptionController.store(request.pushSubscription, of: fresh.id, now: now, db)
        return .json(201, ["authenticatorId": .string(fresh.id), "accessToken": .string(fresh.token)])
    }

    /// Verifies a registration (WebAuthn Level 3 §7.1), and the further rules of the options and the protocol.
    private static func verify(
        _ request: EnrollmentRequest, in ceremony: CeremonyRecord, under code: EnrollmentCodeRecord,
        at site: IssuerSite
    ) throws -> VerifiedRegistration {
        let verified: VerifiedRegistration
        do throws(VerificationError) {
            verified = try RegistrationVerifier.verify(
                request.credential, challenge: ceremony.challenge, origin: site.origin, rpId: site.rpId,
                userVerificationRequired: code.userVerification == .required, algorithms: code.algorithms.numbers)
        } catch {
            throw SandboxError.listed(.invalidRegistration, error.description)
        }
        let format: AttestationFormat = code.attestation == .none ? .none : .packed
        guard verified.format == format else {
            throw SandboxError.listed(.invalidRegistration, "the attestation's fmt must be \(format.rawValue)")
        }
        let model = request.authnType == .test ? AAGUID.test : AAGUID.model
        guard verified.aaguid == model else {
            throw SandboxError.listed(.invalidRegistration, "the AAGUID is not authnType \(request.authnType)'s")
        }
        return verified
    }

    /// Refuses a known credential id, of any user (WebAuthn Level 3 §7.1 step 26).
    private static func refuseKnown(_ credentialId: [UInt8], _ db: Database) throws {
        guard try AuthenticatorRecord.row(db, "WHERE credentialId = ?", [Data(credentialId)]) == nil else {
            throw SandboxError.listed(.invalidRegistration, "the credential id is registered already")
        }
    }

    private static func insert(
        _ request: EnrollmentRequest, verified: VerifiedRegistration, in ceremony: CeremonyRecord,
        under code: EnrollmentCodeRecord, as fresh: FreshEnrollment, origin: String, now: Int64, _ db: Database
    ) throws {
        let token = try SHA256Digest.of(Array(fresh.token.utf8))
        try AuthenticatorRecord(
            id: fresh.id, tokenDigest: token, credentialId: verified.credentialId, userId: code.userId,
            publicKey: verified.publicKey.subjectPublicKeyInfo, signCount: verified.signCount,
            aaguid: verified.aaguid, format: verified.format.rawValue, authnType: request.authnType.rawValue,
            name: request.name, version: request.version, registration: request.credential.json,
            challenge: ceremony.challenge, origin: origin, enrolledAt: now
        ).insert(db)
    }
}

/// The identifiers of a new enrollment, made before the database transaction.
private struct FreshEnrollment: Sendable {
    let id: String
    let token: String
}

/// A registration ceremony, with the answer that ended it.
struct CeremonyRecord: StoredRecord {
    static let databaseTableName = "ceremony"

    let id: String
    let code: String
    @Blob var challenge: [UInt8]
    var expiresAt: Int64
    var bodyDigest: Blob?
    var answerStatus: Int?
    var answerBody: Blob?

    var answer: Answer? {
        guard let answerStatus, let answerBody else { return nil }
        return Answer(
            status: answerStatus, contentType: answerStatus < 400 ? "application/json" : Problem.contentType,
            body: answerBody.wrappedValue)
    }
}
