import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import StrictJSON
import WebAuthn

/// Opens a registration ceremony for a client with an enrollment code.
struct EnrollmentOptions: Sendable {
    /// Seconds within which a ceremony must be answered.
    static let lifetime: Int64 = 600
    /// The limit of options for one code: a client can ask again for options that were lost, but not forever.
    private static let maxGiven = 5

    let backend: IssuerBackend

    func give(_ incoming: Incoming) async throws -> Answer {
        let text = try EnrollmentOptionsRequest(bytes: incoming.body).enrollmentCode.reveal()
        let site = try backend.site.get()
        let ceremonyId = try backend.dependencies.randomID()
        let challenge = try backend.dependencies.random(32)
        let now = backend.now
        let answer = try await backend.store.queue.write { db in
            try db.execute(sql: "DELETE FROM ceremony WHERE expiresAt <= ?", arguments: [now])
            let code = try Self.openCode(text, now: now, db)
            try db.execute(
                sql: "UPDATE enrollmentCode SET optionsGiven = optionsGiven + 1 WHERE code = ?",
                arguments: [code.code])
            try CeremonyRecord(
                id: ceremonyId, code: code.code, challenge: challenge, expiresAt: now + Self.lifetime
            ).insert(db)
            let options = try Self.options(for: code, challenge: challenge, site: site, db)
            return EnrollmentOptionsAnswer(ceremonyId: ceremonyId, options: options)
        }
        return .json(200, answer.json)
    }

    private static func openCode(_ text: String, now: Int64, _ db: Database) throws -> EnrollmentCodeRecord {
        let found = try EnrollmentCodeRecord.find(text, db)
        guard let found, found.usedAt == nil, now < found.expiresAt, found.optionsGiven < maxGiven else {
            throw SandboxError.listed(.invalidEnrollmentCode, "the code is wrong, used or expired")
        }
        return found
    }

    private static func options(
        for code: EnrollmentCodeRecord, challenge: [UInt8], site: IssuerSite, _ db: Database
    ) throws -> PublicKeyCredentialCreationOptions {
        let enrolled = try AuthenticatorRecord.rows(db, "WHERE userId = ? AND endedAt IS NULL", [Data(code.userId)])
        return PublicKeyCredentialCreationOptions(
            rpId: site.rpId, rpName: "Sandbox issuer", userId: code.userId, userName: "cardholder",
            userDisplayName: "Sandbox cardholder", challenge: challenge,
            pubKeyCredParams: code.algorithms.numbers, excludeCredentials: enrolled.map(\.credentialId),
            userVerification: code.userVerification, attestation: code.attestation)
    }
}
