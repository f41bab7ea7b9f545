import Keys
import StrictJSON
import WebAuthn

/// WebAuthn's client data and the JSON forms of its options and responses.
enum CredentialChecks {
    private static let stranger = Result { try SigningKey.generate(.es256).publicKey }
    private static let limits = JSONLimits(maxBytes: 65_536)

    static func clientData(_ input: [UInt8]) throws {
        let quoted = ClientData.ccdToString(input.text)
        try mustHold(try JSONReader.value(quoted, limits: limits) == .string(input.text), "CCDToString writes JSON")
        guard let data = try? CollectedClientData.parse(input) else { return }
        try mustHold((1...1_024).contains(data.challenge.count), "a challenge is bounded")
        try mustHold(data.payment == nil || data.type == "payment.get", "only payment.get has a payment")
        try rewritten(data)
    }

    static func credential(_ input: [UInt8]) throws {
        guard let json = try? JSONReader.object(input, limits: limits) else { return }
        if let response = try? RegistrationResponse(json: json) {
            try mustHold(try RegistrationResponse(json: response.json) == response, "what was written reads the same")
            let verified = try? RegistrationVerifier.verify(
                response, challenge: [UInt8](repeating: 0x5A, count: 32), origin: "https://issuer.example",
                rpId: "issuer.example", userVerificationRequired: false, algorithms: [-7, -8, -35])
            try mustHold(verified == nil, "a registration for no challenge of ours does not hold")
        }
        if let response = try? AuthenticationResponse(json: json) {
            try mustHold(try AuthenticationResponse(json: response.json) == response, "what was written reads the same")
            try assertion(response)
        }
    }

    static func options(_ input: [UInt8]) throws {
        guard let json = try? JSONReader.object(input, limits: limits) else { return }
        if let options = try? PublicKeyCredentialCreationOptions(json: json, host: "issuer.example") {
            try mustHold(
                try PublicKeyCredentialCreationOptions(json: options.json, host: "other.example") == options,
                "what was written reads the same")
        }
        if let options = try? PublicKeyCredentialRequestOptions(json: json, host: "issuer.example") {
            try mustHold(
                try PublicKeyCredentialRequestOptions(json: options.json, host: "other.example") == options,
                "what was written reads the same")
        }
    }

    /// Everything is expected as it came, but for the key: that one has signed nothing.
    private static func assertion(_ response: AuthenticationResponse) throws {
        guard let data = try? CollectedClientData.parse(response.clientDataJSON) else { return }
        let signCount = try? AssertionVerifier.verify(
            response, form: data.payment.map(AssertionForm.payment) ?? .get, publicKey: try stranger.get(),
            credentialId: response.credentialId, challenge: data.challenge, origin: data.origin,
            rpId: data.payment?.rpId ?? "issuer.example", userVerificationRequired: false, signCount: .notChecked)
        try mustHold(signCount == nil, "an assertion of another key does not hold")
    }

    private static func rewritten(_ data: CollectedClientData) throws {
        let bytes =
            data.payment.map { ClientData.payment(challenge: data.challenge, origin: data.origin, $0) }
            ?? ClientData.get(challenge: data.challenge, origin: data.origin)
        let again = try CollectedClientData.parse(bytes)
        try mustHold(again.challenge == data.challenge, "the challenge is written as it was read")
        try mustHold(again.origin.utf8.elementsEqual(data.origin.utf8), "the origin is written as it was read")
        for (one, other) in zip(texts(again.payment), texts(data.payment)) {
            try mustHold(one.utf8.elementsEqual(other.utf8), "a payment is written as it was read")
        }
    }

    private static func texts(_ payment: PaymentClientData?) -> [String] {
        guard let payment else { return [] }
        return [
            payment.rpId, payment.topOrigin, payment.payeeName, payment.payeeOrigin ?? "", payment.total.value,
            payment.total.currency, payment.instrument.icon, payment.instrument.displayName,
        ]
    }
}
