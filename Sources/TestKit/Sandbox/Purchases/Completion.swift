import GRDB
import ThreeDS

/// How a purchase ends: once, by a decision, by the payer's leaving, or by its expiry.
enum Completion {
    /// The completion, if there is one by now.
    ///
    /// An expiry takes no timer: whoever looks first after it writes it down.
    static func of(_ purchase: PurchaseRecord, now: Int64, _ db: Database) throws -> CompletionRecord? {
        if let record = try stored(purchase.id, db) { return record }
        guard let expiry = expiry(of: purchase, now: now) else { return nil }
        try complete(purchase, as: .expired, now: expiry.at, db)
        return expiry
    }

    /// The same for one who writes nothing.
    static func known(of purchase: PurchaseRecord, now: Int64, _ db: Database) throws -> CompletionRecord? {
        try stored(purchase.id, db) ?? expiry(of: purchase, now: now)
    }

    private static func expiry(of purchase: PurchaseRecord, now: Int64) -> CompletionRecord? {
        guard now >= purchase.expiresAt else { return nil }
        return CompletionRecord(purchaseId: purchase.id, status: .expired, at: purchase.expiresAt)
    }

    /// Throws if the purchase is completed already: the table has room for one.
    static func complete(
        _ purchase: PurchaseRecord, as status: CompletionRecord.Status, reason: String? = nil, jti: String? = nil,
        now: Int64, milliseconds: Int64? = nil, _ db: Database
    ) throws {
        try CompletionRecord(
            purchaseId: purchase.id, status: status, reason: reason, jti: jti, at: now,
            decidedMilliseconds: milliseconds
        ).insert(db)
    }

    private static func stored(_ purchaseId: Int64, _ db: Database) throws -> CompletionRecord? {
        try CompletionRecord.row(db, "WHERE purchaseId = ?", [purchaseId])
    }
}

extension PurchaseRecord {
    /// The purchase that stands for an acsTransId: of several, which only `force` makes, the first.
    static func first(_ acsTransId: ACSTransactionID, _ db: Database) throws -> PurchaseRecord {
        let found = try row(db, "WHERE acsTransId = ? ORDER BY id LIMIT 1", [acsTransId.canonical])
        guard let found else { throw SandboxError.notFound("no purchase has this acsTransId") }
        return found
    }
}

extension RequestRecord {
    /// The last request that was made for a purchase.
    static func last(of purchaseId: Int64, _ db: Database) throws -> RequestRecord? {
        try row(db, "WHERE purchaseId = ? ORDER BY rowid DESC LIMIT 1", [purchaseId])
    }

    /// The requests of a purchase that a decision can still be taken for.
    static func open(of purchaseId: Int64, now: Int64, _ db: Database) throws -> [RequestRecord] {
        try rows(
            db,
            """
            WHERE purchaseId = ? AND cancelledAt IS NULL AND exp > ?
                AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.jti = authnRequest.jti)
            ORDER BY rowid
            """, [purchaseId, now])
    }
}
