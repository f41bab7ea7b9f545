import GRDB
import Keys
import StrictJSON
import WebAuthn

/// An enrollment code: its options, and its use so far.
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

/// The signature algorithms offered to a registration, by COSE number, the most preferred first.
///
/// They may include algorithms that the sandbox cannot verify, in order to test how a client chooses.
struct OfferedAlgorithms: Sendable {
    static let all = OfferedAlgorithms(numbers: SignatureAlgorithm.allCases.map(\.rawValue))

    let numbers: [Int]

    private init(numbers: [Int]) { self.numbers = numbers }

    /// Returns `nil` unless there are 1 to 16 integers of 32 bits, as in WebAuthn (Level 3 §5.8.5).
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
