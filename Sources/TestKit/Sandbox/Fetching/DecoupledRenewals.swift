import GRDB
import TextAndTime

/// Asks the cardholder of a decoupled purchase again when a request has expired undecided.
///
/// A decoupled authentication takes up to 7 days, and an authn request is valid for 24 hours at most: the issuer sends a
/// new one, with a jti of its own, until there is a decision or the time is over. Whoever fetches sets it off.
struct DecoupledRenewals: Sendable {
    /// Purchases that are looked at for one fetch.
    private static let limit = 1_000

    let backend: IssuerBackend

    func run() async throws {
        let now = backend.now
        // Most sandboxes have none: a look costs less than a write.
        guard try await backend.store.read({ db in try !Self.due(now: now, limit: 1, db).isEmpty }) else {
            return
        }
        let maker = RequestMaker(backend: backend, site: try backend.site.get())
        // What was due at the look may have been renewed by another fetch, so it is looked up again.
        let renewed = try await backend.store.queue.write { db in
            try Self.due(now: now, limit: Self.limit, db).map { purchase in
                let authenticator = try AuthenticatorRecord.referred(db, id: purchase.authenticatorId)
                let exp = min(now.later(by: PurchaseOrder.lifetime.upperBound), purchase.expiresAt)
                let request = try maker.request(for: purchase, to: authenticator, now: now, exp: exp, in: db)
                try maker.announce(request, times: 1, by: purchase.push, now: now, db)
                return purchase.authenticatorId
            }
        }
        for authenticatorId in renewed { backend.notifier.ring(.authenticator(authenticatorId)) }
        if !renewed.isEmpty { backend.notifier.ring(.pushes) }
    }

    /// Decoupled purchases that are pending and have no open request.
    private static func due(now: Int64, limit: Int, _ db: Database) throws -> [PurchaseRecord] {
        try PurchaseRecord.rows(
            db,
            """
            WHERE isDecoupled = 1 AND expiresAt > ?1
                AND NOT EXISTS (SELECT 1 FROM completion WHERE purchaseId = purchase.id)
                AND NOT EXISTS (SELECT 1 FROM authnRequest WHERE purchaseId = purchase.id AND exp > ?1)
                AND EXISTS (SELECT 1 FROM authenticator WHERE id = purchase.authenticatorId AND endedAt IS NULL)
            LIMIT ?2
            """, [now, limit])
    }
}
