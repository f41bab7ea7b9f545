import GRDB
import IssuerProtocol
import Keys
import StrictJSON
import WebAuthn

/// Accepts decisions: verifies approvals, and completes purchases.
///
/// A decision applies to its jti. If the same transaction has several requests, a decision on one leaves the others
/// unchanged. Only the payer's own approval or denial completes the purchase for all of them.
struct DecisionController: Sendable {
    private enum Outcome: Sendable {
        case taken(TransStatus)
        /// A refusal that is returned, not thrown, so that the transaction keeps its writes.
        case refused(SandboxError)
    }

    /// The columns that count further decisions on a decided request.
    private enum Counter { case repeats, conflicts }

    let backend: IssuerBackend

    func accept(_ incoming: Incoming) async throws -> Answer {
        let authenticator = try await backend.authenticated(incoming)
        guard let jti = incoming.captured.first.flatMap(TokenID.init) else { throw Self.unknownRequest }
        let digest = try SHA256Digest.of(incoming.body)
        let site = try backend.site.get()
        let now = backend.now
        let (outcome, acsTransId) = try await backend.store.queue.write { db in
            let request = try Self.request(jti, of: authenticator, db)
            let purchase = try PurchaseRecord.referred(db, id: request.purchaseId)
            let visit = DecisionVisit(
                body: incoming.body, digest: digest, traceparent: incoming.traceparent, request: request,
                purchase: purchase, site: site, publicKeys: backend.store.publicKeys, now: now,
                milliseconds: backend.dependencies.milliseconds())
            let outcome = try Self.decide(visit, db)
            if case .refused(let refusal) = outcome { try RefusedDecisions.keep(refusal, of: visit, in: db) }
            return (outcome, purchase.acsTransId)
        }
        backend.notifier.notify(.purchase(acsTransId))
        switch outcome {
        case .taken(let status): return .json(200, ["transStatus": .string(status.rawValue)])
        case .refused(let refusal): throw refusal
        }
    }

    private static let unknownRequest = SandboxError.listed(
        .unknownRequest, "no request of this authenticator has this jti")

    private static func request(
        _ jti: TokenID, of authenticator: AuthenticatorRecord, _ db: Database
    ) throws -> RequestRecord {
        let found = try RequestRecord.row(db, "WHERE jti = ? AND authenticatorId = ?", [jti.text, authenticator.id])
        guard let found else { throw unknownRequest }
        return found
    }

    private static func decide(_ visit: DecisionVisit, _ db: Database) throws -> Outcome {
        if let earlier = try DecisionRecord.of(visit.request.jti, db) {
            guard earlier.digest == visit.digest else {
                try count(.conflicts, of: visit, in: db)
                return .refused(.listed(.alreadyDecided, "the request has another decision already"))
            }
            try count(.repeats, of: visit, in: db)
            return .taken(earlier.transStatus == "Y" ? .authenticated : .notAuthenticated)
        }
        guard visit.request.cancelledAt == nil else {
            return .refused(.listed(.cancelled, "the request was taken back"))
        }
        guard visit.now < visit.request.exp else { return .refused(.listed(.expired, "the request has expired")) }
        let message: DecisionMessage
        do throws(ProtocolError) { message = try DecisionMessage(bytes: visit.body) } catch {
            return .refused(.listed(.invalidRequest, error.description))
        }
        switch message {
        case .approve(let response): return try approve(visit, with: response, in: db)
        case .deny(let reason): return try deny(visit, for: reason, in: db)
        }
    }

    private static func approve(
        _ visit: DecisionVisit, with response: AuthenticationResponse, in db: Database
    ) throws -> Outcome {
        guard try Completion.of(visit.purchase, now: visit.now, db) == nil else {
            return .refused(.listed(.alreadyDecided, "the purchase is completed by another request"))
        }
        let authenticator = try AuthenticatorRecord.referred(db, id: visit.request.authenticatorId)
        let verdict = try AssertionVerdict(on: response, of: visit, by: authenticator)
        guard let signCount = verdict.signCount else {
            try RefusedDecisions.keep(verdict, of: visit, in: db)
            return .refused(.listed(.invalidAssertion, verdict.failure ?? "the assertion does not hold"))
        }
        try db.execute(
            sql: "UPDATE authenticator SET signCount = ? WHERE id = ?", arguments: [signCount, authenticator.id])
        try record(visit, as: .authenticated, by: authenticator, verdict: verdict, in: db)
        try Completion.complete(
            visit.purchase, as: .authenticated, jti: visit.request.jti, now: visit.now,
            milliseconds: visit.milliseconds, db)
        return .taken(.authenticated)
    }

    /// Records a denial, and completes the purchase if the payer denied or no other request is open.
    ///
    /// The payer's denial completes the purchase at once. The authenticator software's denial does not if another open
    /// request can still bring the payer's decision.
    private static func deny(_ visit: DecisionVisit, for reason: DenyReason, in db: Database) throws -> Outcome {
        let authenticator = try AuthenticatorRecord.referred(db, id: visit.request.authenticatorId)
        try record(visit, as: .notAuthenticated, by: authenticator, verdict: nil, in: db)
        let othersAreOpen = try !RequestRecord.open(of: visit.purchase.id, now: visit.now, db).isEmpty
        let isPayersWord = reason == .userDenied || reason == .suspectedFraud
        if isPayersWord || !othersAreOpen, try Completion.of(visit.purchase, now: visit.now, db) == nil {
            try Completion.complete(
                visit.purchase, as: .notAuthenticated, reason: reason.rawValue, jti: visit.request.jti,
                now: visit.now, milliseconds: visit.milliseconds, db)
        }
        return .taken(.notAuthenticated)
    }

    private static func record(
        _ visit: DecisionVisit, as status: TransStatus, by authenticator: AuthenticatorRecord,
        verdict: AssertionVerdict?, in db: Database
    ) throws {
        let body = try JSONReader.object(visit.body, limits: JSONLimits(maxBytes: Call.maxBody))
        try DecisionRecord(
            jti: visit.request.jti, digest: visit.digest, body: body,
            transStatus: status.rawValue, at: visit.now, storedSignCount: authenticator.signCount,
            verdict: verdict?.json, traceparent: visit.traceparent
        ).insert(db)
        try RequestMaker.unlist(visit.request.jti, db)
    }

    private static func count(_ column: Counter, of visit: DecisionVisit, in db: Database) throws {
        try db.execute(
            sql: "UPDATE decision SET \(column) = \(column) + 1 WHERE jti = ?", arguments: [visit.request.jti])
    }
}

/// A call that brings a decision, with the data to judge it.
struct DecisionVisit: Sendable {
    let body: [UInt8]
    let digest: [UInt8]
    let traceparent: String?
    let request: RequestRecord
    let purchase: PurchaseRecord
    let site: IssuerSite
    let publicKeys: KnownPublicKeys
    let now: Int64
    let milliseconds: Int64
}

extension DecisionRecord {
    static func of(_ jti: String, _ db: Database) throws -> DecisionRecord? {
        try row(db, "WHERE jti = ?", [jti])
    }
}
