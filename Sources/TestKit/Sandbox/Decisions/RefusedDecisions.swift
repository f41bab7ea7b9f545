import GRDB
import IssuerProtocol
import StrictJSON

/// The refused decisions and assertions of a request, for its purchase's timeline: the first ten of each kind.
enum RefusedDecisions {
    private static let maxKept = 10

    /// Stores the verdict on an assertion that is not valid.
    static func keep(_ verdict: AssertionVerdict, of visit: DecisionVisit, in db: Database) throws {
        try keep(RefusedAssertionRecord(jti: visit.request.jti, at: visit.now, verdict: verdict.json), visit, db)
    }

    /// Stores the answer to a refused decision.
    static func keep(_ refusal: SandboxError, of visit: DecisionVisit, in db: Database) throws {
        let record = RefusedDecisionRecord(
            jti: visit.request.jti, at: visit.now, status: refusal.status, code: refusal.code?.rawValue,
            detail: refusal.detail)
        try keep(record, visit, db)
    }

    private static func keep<Record: StoredRecord>(_ record: Record, _ visit: DecisionVisit, _ db: Database) throws {
        if try of(visit.request.jti, db, as: Record.self).count < maxKept { try record.insert(db) }
    }

    /// Reads the records of a request, in the order in which they came.
    static func of<Record: StoredRecord>(_ jti: String, _ db: Database, as record: Record.Type) throws -> [Record] {
        try Record.rows(db, "WHERE jti = ? ORDER BY id", [jti])
    }
}

/// The verdict on an assertion that is not valid.
struct RefusedAssertionRecord: StoredRecord {
    static let databaseTableName = "refusedAssertion"

    let jti: String
    /// The time, in seconds since 1970.
    let at: Int64
    let verdict: JSONValue

    var json: JSONValue { ["at": .time(at), "verdict": verdict] }
}

/// The answer to a refused decision.
struct RefusedDecisionRecord: StoredRecord {
    static let databaseTableName = "refusedDecision"

    let jti: String
    /// The time, in seconds since 1970.
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
