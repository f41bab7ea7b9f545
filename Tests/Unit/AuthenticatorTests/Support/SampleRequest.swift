import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime

@testable import Records

/// An authn request as an issuer signs it; a test changes what it is about.
struct SampleRequest {
    var jti = "request-1"
    /// Seconds from ``SampleAgent/start``.
    var iat: Int64 = 0
    var exp: Int64 = 600
    var nonce: [UInt8] = Array(0..<16)
    var acsTransId = "2f37539c-d82e-4929-88db-2f9e72c7fa62"
    var merchantName = "CoffeeHouse2 (Dæmø)"
    var purchaseAmount = "100"
    var rpId = "issuer.example"
    var userVerification = "preferred"
    /// The payment extension, if the other form of assertion is asked for.
    var payment: JSONObject?
    var kid = "key-1"
    /// Claims that replace those made from the above.
    var claims: JSONObject = [:]

    /// `number` makes the jti and the acsTransId its own.
    static func numbered(_ number: Int) -> SampleRequest {
        let digits = String(number)
        let padded = String(repeating: "0", count: 12 - digits.count) + digits
        return SampleRequest(jti: "request-\(number)", acsTransId: "2f37539c-d82e-4929-88db-\(padded)")
    }

    /// The same, with an `iat` of so many seconds from ``SampleAgent/start``.
    func early(_ iat: Int64) -> SampleRequest {
        var request = self
        request.iat = iat
        return request
    }

    var transaction: JSONObject {
        [
            "acsTransId": .string(acsTransId), "merchantName": .string(merchantName),
            "purchaseAmount": .string(purchaseAmount), "purchaseCurrency": "840", "purchaseExponent": "2",
            "purchaseDate": "20231017055638",
            "threeDSRequestorAppURL": "https://merchant.example/return?transID=1",
        ]
    }

    var challenge: [UInt8] {
        get throws { try ChallengeCommitment.challenge(nonce: nonce, transaction: transaction) }
    }

    func message(for enrollment: Enrollment, signedBy key: SigningKey) throws -> String {
        guard let authenticatorId = enrollment.membership?.authenticatorId else { throw SampleError("not enrolled") }
        var claims: JSONObject = [
            "iss": .string(enrollment.target.issuer.text), "aud": .string(authenticatorId.text), "jti": .string(jti),
            "iat": .integer(SampleAgent.start + iat), "exp": .integer(SampleAgent.start + exp),
            "nonce": .string(Base64URL.encode(nonce)), "transaction": .object(transaction),
            "publicKey": .object(try options(enrollment)),
        ]
        for claim in self.claims.members { claims[claim.name] = claim.value }
        return try Self.signed(claims, typ: "oob-authn-request+jwt", kid: kid, by: key)
    }

    private func options(_ enrollment: Enrollment) throws -> JSONObject {
        var options: JSONObject = [
            "challenge": .string(Base64URL.encode(try challenge)), "rpId": .string(rpId),
            "allowCredentials": [["type": "public-key", "id": .string(Base64URL.encode(enrollment.credentialId))]],
            "userVerification": .string(userVerification),
        ]
        options["extensions"] = payment.map { ["payment": .object($0)] }
        return options
    }

    static func signed(_ claims: JSONObject, typ: String, kid: String, by key: SigningKey) throws -> String {
        let input = CompactJWS.signingInput(kid: kid, typ: typ, payload: claims.serialized())
        return CompactJWS.compact(signingInput: input, signature: try key.rawSignature(over: input))
    }
}

/// An issuer's word that a request is taken back.
struct SampleCancellation {
    var jti = "cancellation-1"
    var cancels = "request-1"
    /// Seconds from ``SampleAgent/start``.
    var iat: Int64 = 0
    var exp: Int64 = 600

    func message(for enrollment: Enrollment, signedBy key: SigningKey) throws -> String {
        guard let authenticatorId = enrollment.membership?.authenticatorId else { throw SampleError("not enrolled") }
        return try SampleRequest.signed(
            [
                "iss": .string(enrollment.target.issuer.text), "aud": .string(authenticatorId.text),
                "jti": .string(jti), "iat": .integer(SampleAgent.start + iat), "exp": .integer(SampleAgent.start + exp),
                "cancels": .string(cancels),
            ], typ: "oob-authn-cancel+jwt", kid: "key-1", by: key)
    }
}
