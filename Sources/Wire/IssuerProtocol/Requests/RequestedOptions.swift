import StrictJSON
import WebAuthn

/// The rules for a request's `publicKey`, except the value of its challenge.
struct RequestedOptions {
    let claims: Claims
    let facts: EnrollmentFacts

    func options() throws(RequestRefusal) -> PublicKeyCredentialRequestOptions {
        guard case .object(let json)? = claims.object["publicKey"] else {
            throw .invalid(.publicKey, "publicKey must be an object")
        }
        try checkChallengeForm(json)
        try checkRelyingParty(json)
        let options = try parse(json)
        // An empty list allows any credential of the relying party (WebAuthn Level 3 §5.5).
        guard options.allowCredentials.isEmpty || options.allowCredentials.contains(facts.credentialId) else {
            throw .invalid(
                .allowCredentials, "publicKey.allowCredentials must be empty or name this enrollment's credential")
        }
        return options
    }

    /// Reads the payment extension.
    ///
    /// `nil` if the request asks for the plain form of assertion.
    static func payment(in extensions: JSONObject?) throws(RequestRefusal) -> PaymentExtension? {
        guard let value = extensions?["payment"] else { return nil }
        guard case .object(let json) = value else {
            throw .invalid(.paymentExtension, "publicKey.extensions.payment must be an object")
        }
        do {
            return try PaymentExtension(json: json)
        } catch {
            throw .invalid(.paymentExtension, "publicKey.extensions.payment\(error)")
        }
    }

    /// Refuses a challenge that is not 32 bytes: it cannot be the SHA-256 commitment, even if WebAuthn allows it.
    private func checkChallengeForm(_ json: JSONObject) throws(RequestRefusal) {
        do {
            _ = try json.base64url("challenge", bytes: 32...32)
        } catch {
            throw .invalid(.commitment, "publicKey.challenge \(error.problem)")
        }
    }

    /// Checks the RP ID.
    ///
    /// If it is absent, it is the host of the issuer's origin (WebAuthn Level 3 §5.1.4).
    private func checkRelyingParty(_ json: JSONObject) throws(RequestRefusal) {
        let isLeftOut = json["rpId"] == nil || json["rpId"] == .null
        guard (isLeftOut ? .string(facts.issuer.host) : json["rpId"]) == .string(facts.rpId) else {
            let leftOut = isLeftOut ? "is left out, which means \(facts.issuer.host), and " : ""
            throw .invalid(.rpId, "publicKey.rpId \(leftOut)must be \(facts.rpId), as enrolled")
        }
    }

    private func parse(_ json: JSONObject) throws(RequestRefusal) -> PublicKeyCredentialRequestOptions {
        do {
            return try PublicKeyCredentialRequestOptions(json: json, host: facts.issuer.host)
        } catch {
            throw .invalid(.publicKey, "publicKey: \(error)")
        }
    }
}
