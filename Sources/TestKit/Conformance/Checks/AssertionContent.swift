import Keys
import StrictJSON
import TextAndTime
import WebAuthn

/// What an assertion says, before anything of it is checked: for the report, and for what nobody has told the kit.
struct AssertionContent {
    private let response: AuthenticationResponse
    /// Nil if it is not of its form.
    let clientData: CollectedClientData?
    private let parsed: AuthenticatorData?

    init(_ response: AuthenticationResponse) {
        self.response = response
        clientData = try? CollectedClientData.parse(response.clientDataJSON)
        parsed = try? AuthenticatorData.parse(response.authenticatorData)
    }

    /// The form that it has itself.
    var form: AssertionForm { clientData?.payment.map(AssertionForm.payment) ?? .get }

    /// The authenticator data with another relying party's hash and more flags; as it came if it is not of its form.
    func authenticatorData(rpId: String, adding flags: AuthenticatorFlags = []) throws(OpenSSLError) -> [UInt8] {
        let bytes = response.authenticatorData
        guard parsed != nil else { return bytes }
        return try SHA256Digest.of(Array(rpId.utf8)) + [bytes[32] | flags.rawValue] + bytes[33...]
    }

    /// What was decoded of it; null for a part that cannot be.
    var json: JSONObject {
        let limits = JSONLimits(maxBytes: CollectedClientData.maxBytes)
        let clientDataJSON = try? JSONReader.document(response.clientDataJSON, limits: limits).root
        var json: JSONObject = ["credentialId": .string(Base64URL.encode(response.credentialId))]
        json["userHandle"] = response.userHandle.map { .string(Base64URL.encode($0)) }
        json["clientData"] = clientDataJSON ?? .null
        json["authenticatorData"] = parsed.map { data in
            [
                "rpIdHash": .string(Base64URL.encode(data.rpIdHash)),
                "flags": .array(data.flags.names.map(JSONValue.string)),
                "signCount": .integer(Int64(data.signCount)),
            ]
        }
        return json
    }
}

extension AuthenticatorFlags {
    /// Those that are set, as WebAuthn abbreviates them.
    fileprivate var names: [String] {
        let all: [(AuthenticatorFlags, String)] = [
            (.userPresent, "UP"), (.userVerified, "UV"), (.backupEligible, "BE"), (.backupState, "BS"),
            (.attestedCredentialData, "AT"), (.extensionData, "ED"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}
