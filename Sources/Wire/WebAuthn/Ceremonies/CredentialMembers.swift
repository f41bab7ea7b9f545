import StrictJSON
import TextAndTime

// Members that several JSON forms share.
extension JSONObject {
    /// Reads a nested object.
    ///
    /// Errors in it get a path relative to this object.
    func within<Value>(
        _ name: String, _ read: (JSONObject) throws(JSONMemberError) -> Value
    ) throws(JSONMemberError) -> Value {
        let nested = try object(name)
        do { return try read(nested) } catch { throw error.inside(name) }
    }

    /// Returns the ids of an array of PublicKeyCredentialDescriptorJSON.
    ///
    /// An absent array counts as empty.
    ///
    /// A descriptor of an unknown type is ignored (WebAuthn Level 3 §5.8.3). If all descriptors are ignored, that is an
    /// error: an empty `allowCredentials` would allow any credential.
    func credentialIds(_ name: String) throws(JSONMemberError) -> [[UInt8]] {
        let elements = try optionalArray(name, count: MemberBounds.descriptors) ?? []
        var ids: [[UInt8]] = []
        for (index, element) in elements.enumerated() {
            let path = "/\(name)/\(index)"
            guard case .object(let descriptor) = element else {
                throw JSONMemberError(path: path, problem: "must be an object")
            }
            do {
                guard try descriptor.isOfPublicKeyType() else { continue }
                ids.append(try descriptor.base64url("id", bytes: AttestedCredential.credentialIdCounts))
            } catch { throw JSONMemberError(path: path + error.path, problem: error.problem) }
        }
        guard elements.isEmpty || !ids.isEmpty else {
            throw JSONMemberError(path: "/\(name)", problem: "must be empty or hold one of type \(publicKeyType)")
        }
        return ids
    }

    func isOfPublicKeyType() throws(JSONMemberError) -> Bool {
        try string("type").utf8.elementsEqual(publicKeyType.utf8)
    }

    func checkPublicKeyType() throws(JSONMemberError) {
        guard try isOfPublicKeyType() else {
            throw JSONMemberError(path: "/type", problem: "must be \(publicKeyType)")
        }
    }

    /// Returns the credential id of a response: `id` and `rawId`, which must be the same bytes.
    func responseCredentialId() throws(JSONMemberError) -> [UInt8] {
        try checkPublicKeyType()
        let id = try base64url("id", bytes: AttestedCredential.credentialIdCounts)
        let rawId = try base64url("rawId", bytes: AttestedCredential.credentialIdCounts)
        guard id == rawId else { throw JSONMemberError(path: "/rawId", problem: "must be the same as id") }
        // The form requires this member. No extension was requested, so its contents are not read.
        _ = try object("clientExtensionResults")
        return rawId
    }

    func userVerification() throws(JSONMemberError) -> UserVerificationRequirement {
        guard let text = try optionalString("userVerification") else { return .preferred }
        guard let value = UserVerificationRequirement(rawValue: text) else {
            throw JSONMemberError(path: "/userVerification", problem: "must be required, preferred or discouraged")
        }
        return value
    }
}

/// PublicKeyCredentialType (WebAuthn Level 3 §5.8.2).
let publicKeyType = "public-key"

/// Returns an array of PublicKeyCredentialDescriptorJSON (WebAuthn Level 3 §5.8.3).
func descriptors(_ ids: [[UInt8]]) -> JSONValue {
    .array(ids.map { ["type": .string(publicKeyType), "id": .string(Base64URL.encode($0))] })
}

/// Returns RegistrationResponseJSON or AuthenticationResponseJSON (WebAuthn Level 3 §5.1).
func responseJSON(credentialId: [UInt8], response: JSONObject) -> JSONObject {
    let id = JSONValue.string(Base64URL.encode(credentialId))
    return [
        "id": id, "rawId": id, "response": .object(response), "authenticatorAttachment": "platform",
        "clientExtensionResults": [:], "type": .string(publicKeyType),
    ]
}

extension JSONValue {
    /// Returns a Base64URLString.
    static func base64url(_ bytes: [UInt8]) -> JSONValue { .string(Base64URL.encode(bytes)) }
}

/// Allowed lengths of members in bytes, from the standard or chosen by a cautious reader.
enum MemberBounds {
    /// §13.4.3 asks for at least 16.
    static let challenge = 16...1_024
    /// The length of a domain name.
    static let rpId = 1...253
    static let userHandle = 1...64
    static let name = 0...1_024
    static let clientDataJSON = 1...CollectedClientData.maxBytes
    static let attestationObject = 1...65_536
    /// The verifier requires at least 37.
    ///
    /// A shorter value is an assertion that fails verification.
    static let authenticatorData = 1...AuthenticatorData.maxBytes
    static let signature = 1...1_024
    static let descriptors = 0...256
}
