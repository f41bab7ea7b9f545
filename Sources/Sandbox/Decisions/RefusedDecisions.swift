import GRDB
import IssuerProtocol
import SQLiteRows
import StrictJSON
import TableRows

/// What was refused of what came for a request, for its purchase's story: of each kind the first ten.
enum RefusedDecisions {
    private static let maxKept = 10

    /// Keeps what an assertion failed.
    static func keep(_ verdict: AssertionVerdict, of visit: DecisionVisit, in db: Database) throws {
        guard try hasRoom(RefusedAssertionColumn.table.name, visit.request.jti, db) else { return }
        try db.insert(
            into: RefusedAssertionColumn.table,
            [.jti: visit.request.jti, .at: visit.now, .verdict: verdict.json.text])
    }

    /// Keeps the answer to a decision that was not taken.
    static func keep(_ refusal: SandboxError, of visit: DecisionVisit, in db: Database) throws {
        guard try hasRoom(RefusedDecisionColumn.table.name, visit.request.jti, db) else { return }
        try db.insert(
            into: RefusedDecisionColumn.table,
            [
                .jti: visit.request.jti,
                .at: visit.now,
                .status: refusal.status,
                .code: refusal.code?.rawValue,
                .detail: refusal.detail,
            ])
    }

    private static func hasRoom(_ table: String, _ jti: String, _ db: Database) throws -> Bool {
        let kept = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE jti = ?", arguments: [jti])
        return kept ?? 0 < maxKept
    }

    /// In the order in which they came.
    static func all(of jti: String, _ db: Database) throws -> [RefusedDecisionRecord] {
        try db.rows(
            of: RefusedDecisionColumn.table, "WHERE jti = ? ORDER BY id", [jti], as: RefusedDecisionRecord.init)
    }
}

/// The answer to a decision that was not taken.
struct RefusedDecisionRecord: Sendable {
    /// Seconds since 1970.
    let at: Int64
    let status: Int64
    let code: String?
    let detail: String

    init(_ fields: Fields<RefusedDecisionColumn>) throws {
        at = try fields.number(.at)
        status = try fields.number(.status)
        code = try fields.optionalText(.code)
        detail = try fields.text(.detail)
    }

    var json: JSONValue {
        var json: JSONObject = ["at": .time(at), "status": .integer(status)]
        json["code"] = code.map(JSONValue.string)
        json["detail"] = .string(detail)
        return .object(json)
    }
}

/// The columns of an assertion that was refused.
enum RefusedAssertionColumn: Int, TableColumn {
    static let table = TableLayout<Self>("refusedAssertion", naming: .asWritten)

    case jti, at, verdict
}

/// The columns of a decision that was refused.
enum RefusedDecisionColumn: Int, TableColumn {
    static let table = TableLayout<Self>("refusedDecision", naming: .asWritten)

    case jti, at, status, code, detail
}
