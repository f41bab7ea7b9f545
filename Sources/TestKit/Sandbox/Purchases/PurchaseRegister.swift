import GRDB
import StrictJSON
import TextAndTime
import ThreeDS

/// The list of purchases, the newest first.
struct PurchaseRegister: Sendable {
    static let limit: ClosedRange<Int64> = 1...1_000
    private static let usualLimit: Int64 = 100

    /// The status of a purchase; the raw values are those of its timeline.
    enum Status: String, CaseIterable { case pending, authenticated, notAuthenticated, expired, cancelled }

    let backend: IssuerBackend

    /// Lists purchases: `?limit=&status=&after=` → `{"purchases": [summary], "next"?}`.
    ///
    /// `next` is the value of `after` for the next page. A purchase that `force` started under a known acsTransId is in
    /// the timeline of the first purchase, and is not listed by itself.
    func list(_ incoming: Incoming) async throws -> Answer {
        let limit = try incoming.number("limit", in: Self.limit) ?? Self.usualLimit
        let status = try incoming.query("status").map(Self.status)
        let after = incoming.query("after")
        let now = backend.now
        let purchases = try await backend.store.read { db in
            let last = try after.map { try Self.id($0, db) } ?? .max
            return try PurchaseRecord.rows(
                db,
                """
                WHERE id < ?1 AND NOT EXISTS (
                        SELECT 1 FROM purchase AS other WHERE other.acsTransId = purchase.acsTransId
                            AND other.id < purchase.id)
                    AND (?2 IS NULL OR ?2 = COALESCE(
                        (SELECT status FROM completion WHERE purchaseId = purchase.id),
                        CASE WHEN expiresAt <= ?3 THEN 'expired' ELSE 'pending' END))
                ORDER BY id DESC LIMIT ?4
                """, [last, status?.rawValue, now, limit + 1]
            ).map { purchase in (purchase, try Completion.known(of: purchase, now: now, db)) }
        }
        let listed = purchases.prefix(Int(limit))
        var json: JSONObject = ["purchases": .array(listed.map { .object($0.0.summary($0.1)) })]
        if purchases.count > listed.count { json["next"] = listed.last.map { .string($0.0.acsTransID) } }
        return .json(200, json)
    }

    static func status(_ text: String) throws(SandboxError) -> Status {
        guard let status = Status(rawValue: text) else {
            let advice = NearestName.advice(for: text, among: Status.allCases.map(\.rawValue))
            throw .badRequest("status: no such status; \(advice)")
        }
        return status
    }

    private static func id(_ text: String, _ db: Database) throws -> Int64 {
        guard let acsTransId = ACSTransactionID(text) else {
            throw SandboxError.badRequest("after: must be an acsTransId, a UUID of 36 characters")
        }
        return try PurchaseRecord.first(acsTransId, db).id
    }
}

extension PurchaseRecord {
    /// Returns the short form of its timeline.
    func summary(_ completion: CompletionRecord?) -> JSONObject {
        var json: JSONObject = [
            "acsTransId": .string(acsTransID), "status": .string(completion?.status.rawValue ?? "pending"),
            "authenticatorId": .string(authenticatorId), "transaction": .object(transaction),
            "createdAt": .time(createdAt), "expiresAt": .time(expiresAt),
        ]
        json["transStatus"] = completion.map { .string($0.transStatus) }
        json["completedAt"] = completion.map { .time($0.at) }
        json["startedAtMilliseconds"] = .integer(startedMilliseconds)
        json["completedAtMilliseconds"] = completion?.decidedMilliseconds.map(JSONValue.integer)
        return json
    }
}
