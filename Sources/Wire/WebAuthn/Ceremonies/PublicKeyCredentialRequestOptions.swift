package import StrictJSON

/// A relying party's options for an authentication.
///
/// It is PublicKeyCredentialRequestOptionsJSON (WebAuthn Level 3 §5.1.9, §5.5).
package struct PublicKeyCredentialRequestOptions: Sendable, Equatable {
    /// 16 to 1,024 bytes.
    package let challenge: [UInt8]
    package let rpId: String
    /// The allowed credential ids.
    ///
    /// Empty if any credential of the relying party is allowed.
    package let allowCredentials: [[UInt8]]
    package let userVerification: UserVerificationRequirement
    /// The timeout in milliseconds.
    package let timeout: Int64?
    /// Client extension inputs, as received.
    package let extensions: JSONObject?

    package init(
        challenge: [UInt8], rpId: String, allowCredentials: [[UInt8]] = [],
        userVerification: UserVerificationRequirement = .preferred, timeout: Int64? = nil,
        extensions: JSONObject? = nil
    ) {
        self.challenge = challenge
        self.rpId = rpId
        self.allowCredentials = allowCredentials
        self.userVerification = userVerification
        self.timeout = timeout
        self.extensions = extensions
    }

    /// Reads the JSON form.
    ///
    /// - Parameter host: of the relying party's origin. It is the RP ID if `rpId` is absent (§5.1.4).
    package init(json: JSONObject, host: String) throws(WebAuthnError) {
        do throws(JSONMemberError) {
            self.init(
                challenge: try json.base64url("challenge", bytes: MemberBounds.challenge),
                rpId: try json.optionalString("rpId", bytes: MemberBounds.rpId) ?? host,
                allowCredentials: try json.credentialIds("allowCredentials"),
                userVerification: try json.userVerification(),
                timeout: try json.optionalInteger("timeout", in: 0...Int64(UInt32.max)),
                extensions: try json.optionalObject("extensions"))
        } catch {
            throw WebAuthnError(error)
        }
    }

    package var json: JSONObject {
        var json: JSONObject = ["challenge": .base64url(challenge)]
        json["timeout"] = timeout.map { .integer($0) }
        json["rpId"] = .string(rpId)
        json["allowCredentials"] = descriptors(allowCredentials)
        json["userVerification"] = .string(userVerification.rawValue)
        json["extensions"] = extensions.map { .object($0) }
        return json
    }
}
