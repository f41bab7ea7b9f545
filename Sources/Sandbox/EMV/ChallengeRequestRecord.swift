import GRDB
import SQLiteRows
import TableRows

/// A CReq that a test sent between the first and the last one, which the sandbox sends by itself.
struct ChallengeRequestRecord: Sendable {
    enum Reply: String, Sendable {
        /// No result yet: the instructions once more.
        case instructions
        /// The final CRes, to an SDK that came back after the result.
        case final
        /// An Erro: the transaction had timed out.
        case late
    }

    /// Seconds since 1970.
    let at: Int64
    /// "01" the cardholder tapped, "02" of itself.
    let oobContinue: String
    let oobAppFailed: Bool
    let answer: Reply

    static func all(of purchaseId: Int64, _ db: Database) throws -> [ChallengeRequestRecord] {
        try db.rows(
            of: ChallengeRequestColumn.table, "WHERE purchaseId = ? ORDER BY id", [purchaseId],
            as: ChallengeRequestRecord.init)
    }

    func insert(for purchaseId: Int64, _ db: Database) throws {
        try db.insert(
            into: ChallengeRequestColumn.table,
            [
                .purchaseId: purchaseId, .at: at, .oobContinue: oobContinue, .oobAppFailed: oobAppFailed,
                .answer: answer.rawValue,
            ])
    }
}

/// The columns of such a CReq.
enum ChallengeRequestColumn: Int, TableColumn {
    static let table = TableLayout<Self>("challengeRequest", naming: .asWritten)

    case purchaseId, at, oobContinue, oobAppFailed, answer
}

extension ChallengeRequestRecord {
    init(_ fields: Fields<ChallengeRequestColumn>) throws {
        at = try fields.number(.at)
        oobContinue = try fields.text(.oobContinue)
        oobAppFailed = try fields.flag(.oobAppFailed)
        answer = try fields.value(.answer, Reply.init(rawValue:))
    }
}
