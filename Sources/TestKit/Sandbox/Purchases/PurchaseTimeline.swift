import GRDB
import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime
import WebAuthn

/// The record of everything that happened to one purchase, for a test driver.
struct PurchaseTimeline: Sendable {
    let purchase: PurchaseRecord
    let completion: CompletionRecord?
    private let authenticator: AuthenticatorRecord
    private let requests: [RequestStory]
    private let story: EMVStory
    /// Later purchases that `force` started under the same acsTransId.
    private let others: [PurchaseTimeline]

    /// Reads the timeline, and records an expiry that is due.
    static func of(_ purchaseId: Int64, now: Int64, _ db: Database) throws -> PurchaseTimeline {
        let purchase = try PurchaseRecord.referred(db, id: purchaseId)
        let others = try PurchaseRecord.rows(
            db, "WHERE acsTransId = ? AND id > ? ORDER BY id LIMIT 100", [purchase.acsTransId, purchaseId])
        return try PurchaseTimeline(
            purchase, others: others.map { try PurchaseTimeline($0, others: [], now: now, db) }, now: now, db)
    }

    private init(_ purchase: PurchaseRecord, others: [PurchaseTimeline], now: Int64, _ db: Database) throws {
        self.purchase = purchase
        self.others = others
        completion = try Completion.of(purchase, now: now, db)
        authenticator = try AuthenticatorRecord.referred(db, id: purchase.authenticatorId)
        requests = try RequestRecord.rows(db, "WHERE purchaseId = ? ORDER BY rowid", [purchase.id])
            .map { try RequestStory($0, now: now, db) }
        story = EMVStory(
            purchase: purchase, completion: completion, creqs: try ChallengeRequestRecord.all(of: purchase.id, db),
            requests: requests)
    }

    var json: JSONObject {
        var json: JSONObject = [
            "acsTransId": .string(purchase.acsTransID),
            "status": .string(completion?.status.rawValue ?? "pending"),
            "authenticatorId": .string(purchase.authenticatorId), "authenticatorState": .string(authenticator.state),
            "transaction": .object(purchase.transaction),
            "userVerification": .string(purchase.userVerification.rawValue),
            "push": .string(purchase.push.rawValue),
            "assertion": purchase.payment == nil ? "webauthn.get" : "payment.get",
            "createdAt": .time(purchase.createdAt), "expiresAt": .time(purchase.expiresAt),
        ]
        json["traceparent"] = purchase.traceparent.map(JSONValue.string)
        json["payment"] = purchase.payment.map { .object($0.json) }
        json["transStatus"] = completion.map { .string($0.transStatus) }
        json["completedAt"] = completion.map { .time($0.at) }
        json["merchant"] = MerchantResults(profile: purchase.emv, completion: completion).json
        if !purchase.emvOrder.members.isEmpty { json["emv"] = .object(purchase.emvOrder) }
        json["messages"] = .array(story.json)
        json["steps"] = .array(story.steps.map(\.json))
        json["challengeRequests"] = .integer(Int64(story.challengeRequests))
        addDecision(to: &json)
        json["requests"] = .array(requests.map(\.json))
        if !others.isEmpty { json["others"] = .array(others.map { .object($0.json) }) }
        return json
    }

    /// Adds the decision that completed the purchase, with all data that is needed to verify it elsewhere.
    private func addDecision(to json: inout JSONObject) {
        guard let jti = completion?.jti, let request = requests.first(where: { $0.request.jti == jti }),
            let decision = request.decision
        else { return }
        json["decision"] = .object(request.decisionJSON(decision))
        guard let credential = decision.body["credential"], let verdict = decision.verdict else { return }
        json["verdict"] = verdict
        json["credential"] = credential
        json["publicKey"] = (try? PublicKey(subjectPublicKeyInfo: authenticator.publicKey)).map { .string($0.pem) }
        json["expected"] = [
            "challenge": .string(Base64URL.encode(request.request.challenge)),
            "nonce": .string(Base64URL.encode(request.request.nonce)),
            "credentialId": .string(Base64URL.encode(authenticator.credentialId)),
            "origin": .string(request.request.origin), "signCountAbove": .integer(Int64(decision.storedSignCount)),
        ]
    }
}
