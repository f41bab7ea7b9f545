package import StrictJSON

/// The answer to an authentication: AuthenticationResponseJSON (WebAuthn Level 3 §5.1, §5.2.2).
package struct AuthenticationResponse: Sendable, Equatable {
    package let credentialId: [UInt8]
    /// The bytes that were signed.
    package let clientDataJSON: [UInt8]
    /// The bytes that were signed.
    package let authenticatorData: [UInt8]
    /// A DER ECDSA-Sig-Value for ES256 and ES384, 64 bytes for Ed25519 (§6.5.5).
    package let signature: [UInt8]
    /// The user's id from the registration, 1 to 64 bytes.
    package let userHandle: [UInt8]?

    package init(
        credentialId: [UInt8], clientDataJSON: [UInt8], authenticatorData: [UInt8], signature: [UInt8],
        userHandle: [UInt8]? = nil
    ) {
        self.credentialId = credentialId
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
    }

    package init(json: JSONObject) throws(WebAuthnError) {
        do throws(JSONMemberError) {
            let credentialId = try json.responseCredentialId()
            self = try json.within("response") { response throws(JSONMemberError) in
                AuthenticationResponse(
                    credentialId: credentialId,
                    clientDataJSON: try response.base64url("clientDataJSON", bytes: MemberBounds.clientDataJSON),
                    authenticatorData: try response.base64url(
                        "authenticatorData", bytes: MemberBounds.authenticatorData),
                    signature: try response.base64url("signature", bytes: MemberBounds.signature),
                    userHandle: try response.optionalBase64url("userHandle", bytes: MemberBounds.userHandle))
            }
        } catch {
            throw WebAuthnError(error)
        }
    }

    package var json: JSONObject {
        var response: JSONObject = [
            "clientDataJSON": .base64url(clientDataJSON), "authenticatorData": .base64url(authenticatorData),
            "signature": .base64url(signature),
        ]
        response["userHandle"] = userHandle.map { .base64url($0) }
        return responseJSON(credentialId: credentialId, response: response)
    }
}
