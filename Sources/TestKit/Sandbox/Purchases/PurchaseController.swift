import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime
import ThreeDS
import WebAuthn

/// The sandbox's merchant, 3DS Server and ACS: starts purchases and reports on them.
struct PurchaseController: Sendable {
    let backend: IssuerBackend

    /// Starts a purchase, or lists the request of an existing purchase again.
    func make(_ incoming: Incoming) async throws -> Answer {
        let order = try PurchaseOrder(try incoming.object(emptyAllowed: true), dependencies: backend.dependencies)
        return .json(201, try await start { _, _ in order }.json)
    }

    /// Carries out an order now, in one database transaction.
    func start(
        _ order: @escaping @Sendable (Database, _ now: Int64) throws -> PurchaseOrder
    ) async throws -> PurchaseTimeline {
        let maker = RequestMaker(backend: backend, site: try backend.site.get())
        let (now, milliseconds) = (backend.now, backend.dependencies.milliseconds())
        let timeline = try await backend.store.queue.write { db in
            let order = try order(db, now)
            let authenticator = try Self.authenticator(order.authenticatorId, db)
            let purchase = try place(order, for: authenticator, now: now, milliseconds: milliseconds, in: db)
            try list(order, as: purchase, for: authenticator, by: maker, now: now, in: db)
            return try PurchaseTimeline.of(purchase.id, now: now, db)
        }
        backend.notifier.notify(.authenticator(timeline.purchase.authenticatorId))
        backend.notifier.notify(.purchase(timeline.purchase.acsTransId))
        backend.notifier.notify(.pushes)
        return timeline
    }

    private static func authenticator(_ id: String?, _ db: Database) throws -> AuthenticatorRecord {
        if let id {
            guard let found = try AuthenticatorRecord.find(id, db) else {
                throw SandboxError.notFound("authenticatorId: no such authenticator")
            }
            guard found.endedAt == nil else {
                throw SandboxError.conflict("authenticatorId: the authenticator is \(found.ending ?? "ended")")
            }
            return found
        }
        let newest = try AuthenticatorRecord.row(db, "WHERE endedAt IS NULL ORDER BY seq DESC LIMIT 1")
        guard let newest else { throw SandboxError.conflict("no authenticator is enrolled: enroll one first") }
        return newest
    }

    /// Returns the purchase that the order refers to: an existing purchase with its acsTransId, or a new one.
    private func place(
        _ order: PurchaseOrder, for authenticator: AuthenticatorRecord, now: Int64, milliseconds: Int64, in db: Database
    ) throws -> PurchaseRecord {
        let acsTransId = order.transaction.acsTransId
        let digest = try ChallengeCommitment.transactionDigest(
            order.transaction, userVerification: order.userVerification.rawValue, payment: order.payment)
        let standing = try PurchaseRecord.rows(db, "WHERE acsTransId = ? ORDER BY id", [acsTransId.canonical])
        let same = standing.first { $0.transactionDigest == digest && $0.authenticatorId == authenticator.id }
        if let same, !order.force {
            guard order.times != nil || order.newJTI else {
                throw SandboxError.conflict(
                    "acsTransId: this purchase exists; the call takes repeat or newJti to list its request again, or force to start a new one"
                )
            }
            guard order.emvOrder.members.isEmpty || order.emv == same.emv else {
                throw SandboxError.conflict("emv: the purchase goes through EMV otherwise; leave it out, or use force")
            }
            return same
        }
        guard standing.isEmpty || order.force else {
            throw SandboxError.conflict(
                "acsTransId: it stands for another transaction; the call takes force to list this one as well")
        }
        return try insert(order, digest: digest, for: authenticator, now: now, milliseconds: milliseconds, in: db)
    }

    private func insert(
        _ order: PurchaseOrder, digest: [UInt8], for authenticator: AuthenticatorRecord, now: Int64,
        milliseconds: Int64, in db: Database
    ) throws -> PurchaseRecord {
        let members = order.transaction.members.map { JSONObject.Member(name: $0.name, value: .string($0.value)) }
        let last = try Int64.fetchOne(db, sql: "SELECT max(id) FROM purchase") ?? 0
        let purchase = PurchaseRecord(
            id: last + 1, acsTransId: order.transaction.acsTransId.canonical, authenticatorId: authenticator.id,
            transactionDigest: digest, transaction: JSONObject(members), payment: order.payment,
            traceparent: order.traceparent, push: order.push ?? .both, userVerification: order.userVerification,
            emvOrder: order.emvOrder, emv: order.emv, isDecoupled: order.emv.decoupled != nil,
            threeDSServerTransID: try backend.dependencies.randomUUID(),
            dsTransID: try backend.dependencies.randomUUID(), sdkTransID: order.sdkTransID, createdAt: now,
            expiresAt: now.later(by: order.expiresIn), startedMilliseconds: milliseconds)
        try purchase.insert(db)
        return purchase
    }

    private func list(
        _ order: PurchaseOrder, as purchase: PurchaseRecord, for authenticator: AuthenticatorRecord,
        by maker: RequestMaker, now: Int64, in db: Database
    ) throws {
        try db.execute(sql: "DELETE FROM listing WHERE exp <= ?", arguments: [now])
        let standing = try RequestRecord.last(of: purchase.id, db)
        // Records an expiry that is due but not recorded yet, so that it stays an expiry.
        _ = try Completion.of(purchase, now: now, db)
        // The ACS asks the issuer's app only after the first CReq. A call that lists a purchase again may have other
        // EMV members, or none: the purchase keeps its own.
        guard purchase.emv.sdk != .noFirstCReq else { return }
        if purchase.isDecoupled, now >= purchase.expiresAt {
            throw SandboxError.conflict("the purchase's threeDSRequestorDecMaxTime is over: it takes no request")
        }
        let end = purchase.isDecoupled ? purchase.expiresAt : now.later(by: order.expiresIn)
        let exp = min(end, now.later(by: PurchaseOrder.lifetime.upperBound))
        let times = order.times ?? 1
        let requests = try (0..<(order.newJTI ? times : 1)).map { _ in
            guard let standing, !order.newJTI else {
                return try maker.request(for: purchase, to: authenticator, now: now, exp: exp, in: db)
            }
            return standing
        }
        let mode = order.push ?? purchase.push
        for request in requests {
            try Self.checkPush(mode, of: request, authenticator)
            try maker.announce(request, times: order.newJTI ? 1 : times, by: mode, now: now, db)
        }
        try db.execute(
            sql: """
                UPDATE purchase SET expiresAt = (SELECT max(exp) FROM authnRequest WHERE purchaseId = purchase.id)
                WHERE id = ? AND isDecoupled = 0 AND NOT EXISTS (SELECT 1 FROM completion WHERE purchaseId = purchase.id)
                """,
            arguments: [purchase.id])
    }

    /// Refuses a push-only request that cannot be pushed, because no authenticator could get it.
    private static func checkPush(
        _ mode: PushMode, of request: RequestRecord, _ authenticator: AuthenticatorRecord
    ) throws(SandboxError) {
        guard mode == .pushOnly else { return }
        guard authenticator.subscription != nil else {
            throw .conflict("push: only needs a push subscription, and the authenticator has none")
        }
        guard PushRecord.body(of: request.jws, by: mode) != nil else {
            let limit = PushRecipient.maxPlain
            throw .badRequest("push: only needs a request of at most \(limit) bytes; this one could only be hinted at")
        }
    }

    /// Answers with the timeline of a purchase; a caller can wait for its completion.
    func timeline(_ incoming: Incoming) async throws -> Answer {
        let acsTransId = try Self.acsTransId(incoming)
        let wait = try incoming.wait()
        let timeline = try await read(acsTransId)
        guard timeline.completion == nil, wait > 0 else { return .json(200, timeline.json) }
        // An expiry does not wake the notifier's waiters: the wait ends at the expiry, and the next read finds it.
        let seconds = min(wait, max(0, timeline.purchase.expiresAt - backend.now))
        let ended = try await backend.notifier.firstValue(about: [.purchase(acsTransId.canonical)], within: seconds) {
            let timeline = try await read(acsTransId)
            return timeline.completion == nil ? nil : timeline
        }
        if let ended { return .json(200, ended.json) }
        return .json(200, try await read(acsTransId).json)
    }

    private func read(_ acsTransId: ACSTransactionID) async throws -> PurchaseTimeline {
        let now = backend.now
        return try await backend.store.queue.write { db in
            try PurchaseTimeline.of(try PurchaseRecord.first(acsTransId, db).id, now: now, db)
        }
    }

    static func acsTransId(_ incoming: Incoming) throws -> ACSTransactionID {
        guard let text = incoming.captured.first, let id = ACSTransactionID(text) else {
            throw SandboxError.notFound("no purchase: an acsTransId is a UUID of 36 characters")
        }
        return id
    }
}
