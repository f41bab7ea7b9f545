import GRDB
import IssuerProtocol
import StrictJSON
import TextAndTime
import WebAuthn

/// Makes signed authentication requests and cancellations, lists them and queues pushes.
struct RequestMaker: Sendable {
    /// The largest JWS that an authenticator accepts, in bytes.
    private static let maxJWS = 16_384

    let backend: IssuerBackend
    let site: IssuerSite

    /// Makes a new request for the purchase, without listing it.
    func request(
        for purchase: PurchaseRecord, to authenticator: AuthenticatorRecord, now: Int64, exp: Int64, in db: Database
    ) throws -> RequestRecord {
        let jti = try backend.dependencies.randomID()
        let nonce = try backend.dependencies.random(32)
        let challenge = try ChallengeCommitment.challenge(nonce: nonce, transaction: purchase.transaction)
        let options = PublicKeyCredentialRequestOptions(
            challenge: challenge, rpId: site.rpId, allowCredentials: [authenticator.credentialId],
            userVerification: purchase.userVerification,
            timeout: (exp - now) * 1_000, extensions: purchase.payment.map { ["payment": .object($0.json)] })
        var claims: JSONObject = [
            "iss": .string(site.issuer.text), "aud": .string(authenticator.id), "jti": .string(jti),
            "iat": .integer(now), "exp": .integer(exp), "nonce": .string(Base64URL.encode(nonce)),
            "transaction": .object(purchase.transaction), "publicKey": .object(options.json),
        ]
        claims["traceparent"] = purchase.traceparent.map(JSONValue.string)
        let jws = try backend.signer.sign(claims, type: .authnRequest)
        guard jws.utf8.count <= Self.maxJWS else {
            throw SandboxError.badRequest("the transaction makes a request of more than 16 KiB")
        }
        let record = RequestRecord(
            jti: jti, purchaseId: purchase.id, authenticatorId: authenticator.id, origin: site.origin, nonce: nonce,
            challenge: challenge,
            jws: jws, iat: now, exp: exp)
        try record.insert(db)
        return record
    }

    /// Lists a request and pushes it, `times` times, even if it is listed already.
    func announce(_ request: RequestRecord, times: Int, by mode: PushMode, now: Int64, _ db: Database) throws {
        for _ in 0..<(mode.isListed ? times : 0) {
            try list(request.jws, authenticatorId: request.authenticatorId, jti: request.jti, exp: request.exp, db)
        }
        try push(.request, jws: request.jws, about: request, times: times, by: mode, now: now, in: db)
    }

    /// Cancels a request: removes it from the list, and lists its cancellation until the request's expiry.
    func cancel(_ request: RequestRecord, by mode: PushMode, now: Int64, _ db: Database) throws {
        let jti = try backend.dependencies.randomID()
        let claims: JSONObject = [
            "iss": .string(site.issuer.text), "aud": .string(request.authenticatorId), "jti": .string(jti),
            "iat": .integer(now), "exp": .integer(request.exp), "cancels": .string(request.jti),
        ]
        let jws = try backend.signer.sign(claims, type: .cancellation)
        try db.execute(
            sql: "UPDATE authnRequest SET cancelledAt = ? WHERE jti = ?", arguments: [now, request.jti])
        try Self.unlist(request.jti, db)
        if mode.isListed {
            try list(jws, authenticatorId: request.authenticatorId, jti: jti, exp: request.exp, db)
        }
        try push(.cancellation, jws: jws, about: request, by: mode, now: now, in: db)
    }

    /// Queues a push, if there is a subscription; a push-only request without one was refused earlier.
    private func push(
        _ message: PushRecord.Message, jws: String, about request: RequestRecord, times: Int = 1,
        by mode: PushMode, now: Int64, in db: Database
    ) throws {
        guard mode.isPushed, try AuthenticatorRecord.referred(db, id: request.authenticatorId).subscription != nil
        else {
            return
        }
        try PushQueue.add(
            message, jws: PushRecord.body(of: jws, by: mode), about: request, times: times, now: now, in: db)
    }

    private func list(_ jws: String, authenticatorId: String, jti: String, exp: Int64, _ db: Database) throws {
        try ListingRecord(authenticatorId: authenticatorId, jti: jti, jws: jws, exp: exp).insert(db)
    }

    /// Removes a closed request from the list and from the push queue.
    static func unlist(_ jti: String, _ db: Database) throws {
        try PushQueue.withdraw(jti, db)
        try db.execute(sql: "DELETE FROM listing WHERE jti = ?", arguments: [jti])
    }
}
