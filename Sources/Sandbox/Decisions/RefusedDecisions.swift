import GRDB
import IssuerProtocol
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

    /// `[{"at", "status", "code", "detail"}]`, in the order in which they came.
    static func all(of jti: String, _ db: Database) throws -> [JSONValue] {
        try db.rows(of: RefusedDecisionColumn.table, "WHERE jti = ? ORDER BY id", [jti]) { fields in
            var json: JSONObject = [
                "at": .time(try fields.number(.at)), "status": .integer(try fields.number(.status)),
            ]
            json["code"] = try fields.optionalText(.code).map(JSONValue.string)
            json["detail"] = .string(try fields.text(.detail))
            return .object(json)
        }
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
