import Keys
import StrictJSON
import TextAndTime
import WebAuthn

/// The content of an assertion before verification, for the report and for missing facts.
struct AssertionContent {
    private let response: AuthenticationResponse
    /// The client data, or `nil` if it is malformed.
    let clientData: CollectedClientData?
    private let parsed: AuthenticatorData?

    init(_ response: AuthenticationResponse) {
        self.response = response
        clientData = try? CollectedClientData.parse(response.clientDataJSON)
        parsed = try? AuthenticatorData.parse(response.authenticatorData)
    }

    /// The form of the assertion itself.
    var form: AssertionForm { clientData?.payment.map(AssertionForm.payment) ?? .get }

    /// Returns the authenticator data with another rpIdHash and more flags; malformed data is not changed.
    func authenticatorData(rpId: String, adding flags: AuthenticatorFlags = []) throws(OpenSSLError) -> [UInt8] {
        let bytes = response.authenticatorData
        guard parsed != nil else { return bytes }
        return try SHA256Digest.of(Array(rpId.utf8)) + [bytes[32] | flags.rawValue] + bytes[33...]
    }

    /// The decoded content; a part that cannot be decoded is `null`.
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
    /// The names of the set flags, in WebAuthn's abbreviations.
    fileprivate var names: [String] {
        let all: [(AuthenticatorFlags, String)] = [
            (.userPresent, "UP"), (.userVerified, "UV"), (.backupEligible, "BE"), (.backupState, "BS"),
            (.attestedCredentialData, "AT"), (.extensionData, "ED"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}
