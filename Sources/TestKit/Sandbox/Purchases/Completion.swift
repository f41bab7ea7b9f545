import GRDB
import ThreeDS

/// The end of a purchase: once, by a decision, by the payer's leaving, or by its expiry.
enum Completion {
    /// Returns the completion, and records an expiry that is due.
    ///
    /// An expiry needs no timer: the first call of this function after the expiry records it.
    static func of(_ purchase: PurchaseRecord, now: Int64, _ db: Database) throws -> CompletionRecord? {
        if let record = try stored(purchase.id, db) { return record }
        guard let expiry = expiry(of: purchase, now: now) else { return nil }
        try complete(purchase, as: .expired, now: expiry.at, db)
        return expiry
    }

    /// Returns the completion without recording an expiry.
    static func known(of purchase: PurchaseRecord, now: Int64, _ db: Database) throws -> CompletionRecord? {
        try stored(purchase.id, db) ?? expiry(of: purchase, now: now)
    }

    private static func expiry(of purchase: PurchaseRecord, now: Int64) -> CompletionRecord? {
        guard now >= purchase.expiresAt else { return nil }
        return CompletionRecord(purchaseId: purchase.id, status: .expired, at: purchase.expiresAt)
    }

    /// Records the completion, and throws if there is one already: the table allows one for each purchase.
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
    /// Returns the first purchase with an acsTransId; only `force` makes more than one.
    static func first(_ acsTransId: ACSTransactionID, _ db: Database) throws -> PurchaseRecord {
        let found = try row(db, "WHERE acsTransId = ? ORDER BY id LIMIT 1", [acsTransId.canonical])
        guard let found else { throw SandboxError.notFound("no purchase has this acsTransId") }
        return found
    }
}

extension RequestRecord {
    /// Returns the last request that was made for a purchase.
    static func last(of purchaseId: Int64, _ db: Database) throws -> RequestRecord? {
        try row(db, "WHERE purchaseId = ? ORDER BY rowid DESC LIMIT 1", [purchaseId])
    }

    /// Returns the requests of a purchase that can still be decided.
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
