import GRDB
import TextAndTime

/// Renews the request of a decoupled purchase after it expired undecided.
///
/// A decoupled authentication takes up to 7 days, but an authn request is valid for at most 24 hours. So the issuer
/// sends new requests, each with a jti of its own, until there is a decision or the time runs out. A fetch triggers the
/// renewal.
struct DecoupledRenewals: Sendable {
    /// The limit of purchases that one fetch renews.
    private static let limit = 1_000

    let backend: IssuerBackend

    func run() async throws {
        let now = backend.now
        // Most sandboxes have no decoupled purchase: a read costs less than a write.
        guard try await backend.store.read({ db in try !Self.due(now: now, limit: 1, db).isEmpty }) else {
            return
        }
        let maker = RequestMaker(backend: backend, site: try backend.site.get())
        // Another fetch may have renewed some purchases since the read, so they are read again.
        let renewed = try await backend.store.queue.write { db in
            try Self.due(now: now, limit: Self.limit, db).map { purchase in
                let authenticator = try AuthenticatorRecord.referred(db, id: purchase.authenticatorId)
                let exp = min(now.later(by: PurchaseOrder.lifetime.upperBound), purchase.expiresAt)
                let request = try maker.request(for: purchase, to: authenticator, now: now, exp: exp, in: db)
                try maker.announce(request, times: 1, by: purchase.push, now: now, db)
                return purchase.authenticatorId
            }
        }
        for authenticatorId in renewed { backend.notifier.notify(.authenticator(authenticatorId)) }
        if !renewed.isEmpty { backend.notifier.notify(.pushes) }
    }

    /// Returns the pending decoupled purchases without an open request.
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
