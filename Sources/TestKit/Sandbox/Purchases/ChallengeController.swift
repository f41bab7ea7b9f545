import GRDB
import StrictJSON
import TextAndTime
import ThreeDS

/// The calls that act as the cardholder or the 3DS SDK in a challenge.
///
/// The sandbox plays the rest of the challenge by itself.
struct ChallengeController: Sendable {
    let backend: IssuerBackend

    /// Cancels a purchase: `{"challengeCancel"?: "01" | "08"}`.
    ///
    /// The cardholder cancels in the challenge UI (01), or the SDK has waited too long (08). The purchase ends as
    /// cancelled, and its requests are cancelled.
    func cancel(_ incoming: Incoming) async throws -> Answer {
        let body = try incoming.object(emptyAllowed: true)
        try body.refuseMembers(except: ["challengeCancel"])
        let isTimeout = try body.optionalChoice("challengeCancel", as: Cancel.self) == .sdkTimedOut
        return try await change(incoming) { purchase, maker, now, db in
            if let ended = try Completion.of(purchase, now: now, db) { throw Self.completed(ended) }
            try Self.checkHasChallenge(purchase)
            try Self.complete(
                purchase, as: .cancelled, reason: isTimeout ? CompletionRecord.sdkTimedOut : nil, maker, now: now, db)
        }
    }

    /// The challengeCancel of a CReq, or of the RReq that follows an SDK's time-out.
    private enum Cancel: String, CaseIterable {
        case cardholder = "01"
        case sdkTimedOut = "08"
    }

    /// Plays a CReq of the SDK: `{"oobContinue"?: "01" | "02", "oobAppStatus"?: "01", "invalid"?: true}`.
    ///
    /// "02", the default, means that the SDK's app is in the foreground again. Without a result the ACS answers with
    /// its instructions once more. After a time-out it answers with an Erro. An invalid CReq ends the authentication.
    func request(_ incoming: Incoming) async throws -> Answer {
        let body = try incoming.object(emptyAllowed: true)
        try body.refuseMembers(except: ["oobContinue", "oobAppStatus", "invalid"])
        let oobContinue = try body.optionalChoice("oobContinue", as: Continue.self) ?? .automatic
        let hasFailed = try body.optionalChoice("oobAppStatus", as: AppStatus.self) != nil
        let isInvalid = try body.optionalBool("invalid") ?? false
        return try await change(incoming) { purchase, maker, now, db in
            try Self.checkHasChallenge(purchase, needsSDK: true)
            if hasFailed, purchase.emv.version != .v231 || purchase.emv.oobApp == nil {
                throw SandboxError.badRequest("oobAppStatus: it takes a purchase of 2.3.1 with an oobAppURL")
            }
            let completion = try Completion.of(purchase, now: now, db)
            if completion == nil, purchase.emv.sdk == .noFirstCReq {
                throw SandboxError.conflict("this SDK sends no CReq before the time-out")
            }
            if isInvalid {
                if let completion { throw Self.completed(completion) }
                try Self.complete(
                    purchase, as: .notAuthenticated, reason: CompletionRecord.invalidCReq, maker, now: now, db)
                return
            }
            let earlier = try ChallengeRequestRecord.all(of: purchase.id, db)
            guard earlier.count < Self.maxRequests else {
                throw SandboxError.conflict("the SDK has sent \(Self.maxRequests) CReqs already")
            }
            let answer = try Self.answer(completion, purchase, after: earlier, now: now)
            try ChallengeRequestRecord(
                purchaseId: purchase.id, at: now, oobContinue: oobContinue.rawValue, oobAppFailed: hasFailed,
                answer: answer
            ).insert(db)
        }
    }

    private enum Continue: String, CaseIterable {
        case tapped = "01"
        case automatic = "02"
    }

    private enum AppStatus: String, CaseIterable { case notOpened = "01" }

    /// The limit of CReqs for one purchase.
    private static let maxRequests = 100

    /// Seconds for which an ACS waits for the next CReq.
    private static let interactionLimit: Int64 = 600

    private static func answer(
        _ completion: CompletionRecord?, _ purchase: PurchaseRecord, after earlier: [ChallengeRequestRecord], now: Int64
    ) throws(SandboxError) -> ChallengeRequestRecord.Reply {
        guard let completion else { return .instructions }
        if completion.status == .expired { return .late }
        let hasFinalCRes = purchase.emv.sdk != .noReturn || earlier.contains { $0.answer == .final }
        guard !hasFinalCRes, completion.status != .cancelled, completion.reason != CompletionRecord.invalidCReq else {
            throw completed(completion)
        }
        return now < BoundedTime.nearest(completion.at).later(by: interactionLimit) ? .final : .late
    }

    private static func checkHasChallenge(_ purchase: PurchaseRecord, needsSDK: Bool = false) throws(SandboxError) {
        let profile = purchase.emv
        if profile.decoupled != nil { throw .conflict("a decoupled authentication has no challenge: only its result") }
        if needsSDK, profile.channel != .app { throw .conflict("only the app channel has an SDK that sends CReqs") }
        guard profile.sdk == .noFirstCReq, !needsSDK else { return }
        throw .conflict("the challenge has not begun: the SDK has sent no CReq")
    }

    private static func completed(_ completion: CompletionRecord) -> SandboxError {
        .conflict("the purchase is completed already: \(completion.status.rawValue)")
    }

    /// Completes the purchase and cancels its open requests.
    private static func complete(
        _ purchase: PurchaseRecord, as status: CompletionRecord.Status, reason: String?, _ maker: RequestMaker,
        now: Int64, _ db: Database
    ) throws {
        try Completion.complete(purchase, as: status, reason: reason, now: now, db)
        for request in try RequestRecord.open(of: purchase.id, now: now, db) {
            try maker.cancel(request, by: purchase.push, now: now, db)
        }
    }

    /// Changes a purchase in one database transaction, and answers with its story.
    private func change(
        _ incoming: Incoming,
        _ change: @escaping @Sendable (PurchaseRecord, RequestMaker, _ now: Int64, Database) throws -> Void
    ) async throws -> Answer {
        let acsTransId = try PurchaseController.acsTransId(incoming)
        let maker = RequestMaker(backend: backend, site: try backend.site.get())
        let now = backend.now
        let timeline = try await backend.store.queue.write { db in
            let purchase = try PurchaseRecord.first(acsTransId, db)
            try change(purchase, maker, now, db)
            return try PurchaseTimeline.of(purchase.id, now: now, db)
        }
        backend.notifier.notify(.authenticator(timeline.purchase.authenticatorId))
        backend.notifier.notify(.purchase(acsTransId.canonical))
        backend.notifier.notify(.pushes)
        return .json(200, timeline.json)
    }
}
