import GRDB

/// A CReq that a test sent between the first and the last CReq; the sandbox plays those two itself.
struct ChallengeRequestRecord: StoredRecord {
    enum Reply: String, Codable {
        /// No result yet: the instructions once more.
        case instructions
        /// The final CRes, to an SDK that came back after the result.
        case final
        /// An Erro: the transaction had timed out.
        case late
    }

    static let databaseTableName = "challengeRequest"

    let purchaseId: Int64
    /// The time, in seconds since 1970.
    let at: Int64
    /// "01" if the cardholder tapped, "02" if the SDK sent it by itself.
    let oobContinue: String
    let oobAppFailed: Bool
    let answer: Reply

    static func all(of purchaseId: Int64, _ db: Database) throws -> [ChallengeRequestRecord] {
        try rows(db, "WHERE purchaseId = ? ORDER BY id", [purchaseId])
    }
}
