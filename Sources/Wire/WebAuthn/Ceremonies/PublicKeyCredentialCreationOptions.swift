package import StrictJSON

/// A relying party's options for a registration.
///
/// It is PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3 §5.1.8, §5.4). `timeout`, `hints`,
/// `attestationFormats`, `extensions` and the resident-key members have no effect here and are not read.
package struct PublicKeyCredentialCreationOptions: Sendable, Equatable {
    package let rpId: String
    package let rpName: String
    /// The user handle, 1 to 64 bytes.
    package let userId: [UInt8]
    package let userName: String
    package let userDisplayName: String
    /// 16 to 1,024 bytes.
    package let challenge: [UInt8]
    /// COSE algorithm numbers, most preferred first, including numbers that are unknown here.
    package let pubKeyCredParams: [Int]
    package let excludeCredentials: [[UInt8]]
    package let userVerification: UserVerificationRequirement
    package let attestation: AttestationConveyance

    package init(
        rpId: String, rpName: String, userId: [UInt8], userName: String, userDisplayName: String, challenge: [UInt8],
        pubKeyCredParams: [Int], excludeCredentials: [[UInt8]] = [],
        userVerification: UserVerificationRequirement = .preferred, attestation: AttestationConveyance = .none
    ) {
        self.rpId = rpId
        self.rpName = rpName
        self.userId = userId
        self.userName = userName
        self.userDisplayName = userDisplayName
        self.challenge = challenge
        self.pubKeyCredParams = pubKeyCredParams
        self.excludeCredentials = excludeCredentials
        self.userVerification = userVerification
        self.attestation = attestation
    }

    /// Reads the JSON form.
    ///
    /// - Parameter host: of the relying party's origin. It is the RP ID if `rp.id` is absent (§5.1.3).
    package init(json: JSONObject, host: String) throws(WebAuthnError) {
        do throws(JSONMemberError) {
            let rp = try json.within("rp", RpEntity.init(json:))
            let user = try json.within("user", UserEntity.init(json:))
            self.init(
                rpId: rp.id ?? host, rpName: rp.name, userId: user.id, userName: user.name,
                userDisplayName: user.displayName,
                challenge: try json.base64url("challenge", bytes: MemberBounds.challenge),
                pubKeyCredParams: try Self.algorithms(json),
                excludeCredentials: try json.credentialIds("excludeCredentials"),
                userVerification: try Self.userVerification(json), attestation: try Self.attestation(json))
        } catch {
            throw WebAuthnError(error)
        }
    }

    package var json: JSONObject {
        [
            "rp": ["id": .string(rpId), "name": .string(rpName)],
            "user": [
                "id": .base64url(userId), "name": .string(userName), "displayName": .string(userDisplayName),
            ],
            "challenge": .base64url(challenge),
            "pubKeyCredParams": .array(
                pubKeyCredParams.map { ["type": .string(publicKeyType), "alg": .integer(Int64($0))] }),
            "excludeCredentials": descriptors(excludeCredentials),
            "authenticatorSelection": ["userVerification": .string(userVerification.rawValue)],
            "attestation": .string(attestation.rawValue),
        ]
    }
}

extension PublicKeyCredentialCreationOptions {
    /// PublicKeyCredentialRpEntity (§5.4.2).
    private struct RpEntity {
        let id: String?
        let name: String

        init(json: JSONObject) throws(JSONMemberError) {
            id = try json.optionalString("id", bytes: MemberBounds.rpId)
            name = try json.string("name", bytes: MemberBounds.name)
        }
    }

    /// PublicKeyCredentialUserEntityJSON (§5.4.3).
    private struct UserEntity {
        let id: [UInt8]
        let name: String
        let displayName: String

        init(json: JSONObject) throws(JSONMemberError) {
            id = try json.base64url("id", bytes: MemberBounds.userHandle)
            name = try json.string("name", bytes: MemberBounds.name)
            displayName = try json.string("displayName", bytes: MemberBounds.name)
        }
    }

    /// Reads the algorithms.
    ///
    /// An empty list means ES256 and RS256 (§5.1.3).
    ///
    /// Parameters of an unknown type are ignored, but at least one must be known.
    private static func algorithms(_ json: JSONObject) throws(JSONMemberError) -> [Int] {
        let elements = try json.array("pubKeyCredParams", count: 0...64)
        guard !elements.isEmpty else { return [-7, -257] }
        var algorithms: [Int] = []
        for (index, element) in elements.enumerated() {
            let path = "/pubKeyCredParams/\(index)"
            guard case .object(let parameters) = element else {
                throw JSONMemberError(path: path, problem: "must be an object")
            }
            do {
                guard try parameters.isOfPublicKeyType() else { continue }
                // A COSEAlgorithmIdentifier is a `long` (§5.8.5), which has 32 bits.
                algorithms.append(Int(try parameters.integer("alg", in: Int64(Int32.min)...Int64(Int32.max))))
            } catch { throw JSONMemberError(path: path + error.path, problem: error.problem) }
        }
        // A list of which no element is usable is not the empty list, which means the defaults.
        guard !algorithms.isEmpty else {
            throw JSONMemberError(path: "/pubKeyCredParams", problem: "must be empty or hold one of type public-key")
        }
        return algorithms
    }

    private static func userVerification(_ json: JSONObject) throws(JSONMemberError) -> UserVerificationRequirement {
        guard let selection = try json.optionalObject("authenticatorSelection") else { return .preferred }
        do { return try selection.userVerification() } catch { throw error.inside("authenticatorSelection") }
    }

    private static func attestation(_ json: JSONObject) throws(JSONMemberError) -> AttestationConveyance {
        try json.optionalString("attestation").flatMap { AttestationConveyance(rawValue: $0) } ?? .none
    }
}

/// The relying party's requirement for user verification (WebAuthn Level 3 §5.8.6).
///
/// If absent, it is preferred.
///
/// The standard makes clients ignore an unknown value. Here it is refused, so that a stronger requirement is never
/// missed.
package enum UserVerificationRequirement: String, Sendable, CaseIterable {
    case required
    case preferred
    case discouraged
}

/// The attestation that the relying party wants (WebAuthn Level 3 §5.4.7).
///
/// If absent or unknown, it is none.
package enum AttestationConveyance: String, Sendable, CaseIterable {
    case none
    case indirect
    case direct
    case enterprise
}
