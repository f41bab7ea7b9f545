import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import StrictJSON
import WebAuthn

/// Opens a registration ceremony for whoever has an enrollment code.
struct EnrollmentOptions: Sendable {
    /// Seconds in which a ceremony must be answered.
    static let lifetime: Int64 = 600
    /// Options that were lost on the way can be asked for again, but not without end.
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

/// What an enrollment code allows, and how far it is used.
struct EnrollmentCodeRecord: StoredRecord {
    static let databaseTableName = "enrollmentCode"

    let code: String
    @Blob var userId: [UInt8]
    let attestation: AttestationConveyance
    let userVerification: UserVerificationRequirement
    let algorithms: OfferedAlgorithms
    let expiresAt: Int64
    var optionsGiven = 0
    var usedAt: Int64?

    static func find(_ code: String, _ db: Database) throws -> EnrollmentCodeRecord? {
        try row(db, "WHERE code = ?", [code])
    }
}

/// The signature algorithms that a registration is offered, by their COSE numbers, the most wanted first.
///
/// They may be such as the sandbox cannot verify: it tries how a client chooses.
struct OfferedAlgorithms: Sendable {
    static let all = OfferedAlgorithms(numbers: SignatureAlgorithm.allCases.map(\.rawValue))

    let numbers: [Int]

    private init(numbers: [Int]) { self.numbers = numbers }

    /// Nil unless there are 1 to 16 whole numbers of 32 bits, as WebAuthn has them (Level 3 §5.8.5).
    init?(_ json: JSONValue) {
        guard case .array(let elements) = json, (1...16).contains(elements.count) else { return nil }
        let numbers = elements.compactMap { element -> Int? in
            guard case .number(let lexeme) = element else { return nil }
            return Int32(lexeme).map(Int.init)
        }
        guard numbers.count == elements.count else { return nil }
        self.numbers = numbers
    }

    var json: JSONValue { .array(numbers.map { .integer(Int64($0)) }) }
}
