import Keys
package import StrictJSON

extension RegistrationResponse {
    /// Reads the JSON form.
    ///
    /// The members that copy parts of the attestation object must agree with it.
    package init(json: JSONObject) throws(WebAuthnError) {
        let form: Form
        do { form = try Form(json: json) } catch { throw WebAuthnError(error) }
        try self.init(
            credentialId: form.credentialId, clientDataJSON: form.clientDataJSON,
            attestationObject: form.attestationObject)
        guard form.authenticatorData == authenticatorData else { throw Self.disagreement("authenticatorData") }
        guard form.publicKeyAlgorithm == Int64(publicKey.algorithm.rawValue) else {
            throw Self.disagreement("publicKeyAlgorithm")
        }
        guard form.publicKey == nil || form.publicKey == publicKey.subjectPublicKeyInfo else {
            throw Self.disagreement("publicKey")
        }
    }

    package var json: JSONObject {
        let response: JSONObject = [
            "clientDataJSON": .base64url(clientDataJSON),
            "authenticatorData": .base64url(authenticatorData),
            "transports": ["internal"],
            "publicKey": .base64url(publicKey.subjectPublicKeyInfo),
            "publicKeyAlgorithm": .integer(Int64(publicKey.algorithm.rawValue)),
            "attestationObject": .base64url(attestationObject),
        ]
        return responseJSON(credentialId: credentialId, response: response)
    }

    private static func disagreement(_ member: String) -> WebAuthnError {
        WebAuthnError(path: "/response/\(member)", problem: "must be as in attestationObject")
    }
}

/// The members of RegistrationResponseJSON (WebAuthn Level 3 §5.1), with valid types but not yet compared.
private struct Form {
    let credentialId: [UInt8]
    let clientDataJSON: [UInt8]
    let attestationObject: [UInt8]
    // A relying party can read these without CBOR (§5.2.1.1). All except the key are required.
    let authenticatorData: [UInt8]
    let publicKey: [UInt8]?
    let publicKeyAlgorithm: Int64

    init(json: JSONObject) throws(JSONMemberError) {
        credentialId = try json.responseCredentialId()
        let response = try json.object("response")
        do {
            clientDataJSON = try response.base64url("clientDataJSON", bytes: MemberBounds.clientDataJSON)
            attestationObject = try response.base64url("attestationObject", bytes: MemberBounds.attestationObject)
            authenticatorData = try response.base64url("authenticatorData", bytes: MemberBounds.authenticatorData)
            publicKey = try response.optionalBase64url("publicKey", bytes: 1...1_024)
            publicKeyAlgorithm = try response.integer("publicKeyAlgorithm")
            _ = try response.array("transports", count: 0...16)
        } catch { throw error.inside("response") }
    }
}
