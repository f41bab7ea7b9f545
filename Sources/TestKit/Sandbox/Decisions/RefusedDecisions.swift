import GRDB
import IssuerProtocol
import StrictJSON

/// What was refused of what came for a request, for its purchase's story: of each kind the first ten.
enum RefusedDecisions {
    private static let maxKept = 10

    /// Keeps what an assertion failed.
    static func keep(_ verdict: AssertionVerdict, of visit: DecisionVisit, in db: Database) throws {
        try keep(RefusedAssertionRecord(jti: visit.request.jti, at: visit.now, verdict: verdict.json), visit, db)
    }

    /// Keeps the answer to a decision that was not taken.
    static func keep(_ refusal: SandboxError, of visit: DecisionVisit, in db: Database) throws {
        let record = RefusedDecisionRecord(
            jti: visit.request.jti, at: visit.now, status: refusal.status, code: refusal.code?.rawValue,
            detail: refusal.detail)
        try keep(record, visit, db)
    }

    private static func keep<Record: StoredRecord>(_ record: Record, _ visit: DecisionVisit, _ db: Database) throws {
        if try of(visit.request.jti, db, as: Record.self).count < maxKept { try record.insert(db) }
    }

    /// In the order in which they came.
    static func of<Record: StoredRecord>(_ jti: String, _ db: Database, as record: Record.Type) throws -> [Record] {
        try Record.rows(db, "WHERE jti = ? ORDER BY id", [jti])
    }
}

/// What an assertion failed.
struct RefusedAssertionRecord: StoredRecord {
    static let databaseTableName = "refusedAssertion"

    let jti: String
    /// Seconds since 1970.
    let at: Int64
    let verdict: JSONValue

    var json: JSONValue { ["at": .time(at), "verdict": verdict] }
}

/// The answer to a decision that was not taken.
struct RefusedDecisionRecord: StoredRecord {
    static let databaseTableName = "refusedDecision"

    let jti: String
    /// Seconds since 1970.
    let at: Int64
    let status: Int
    let code: String?
    let detail: String

    var json: JSONValue {
        var json: JSONObject = ["at": .time(at), "status": .integer(Int64(status))]
        json["code"] = code.map(JSONValue.string)
        json["detail"] = .string(detail)
        return .object(json)
    }
}
