import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime
import WebAuthn

extension PlannedRequest {
    /// Every request has its own, so that an approval of one never holds for another.
    var nonce: [UInt8] {
        get throws { try SHA256Digest.of(Array(description.utf8)) }
    }

    var transactionJSON: JSONObject {
        let acsTransId = "2f37539c-d82e-4929-88db-00000000000\(acs)"
        return [
            "acsTransId": .string(isUpperCase ? acsTransId.uppercased() : acsTransId),
            "merchantName": "CoffeeHouse2 (Dæmø)", "purchaseAmount": transaction == 1 ? "200" : "100",
            "purchaseCurrency": "840", "purchaseExponent": flaw == .exponent ? "12" : "2",
            "purchaseDate": "20231017055638",
        ]
    }

    var challenge: [UInt8] {
        get throws { try ChallengeCommitment.challenge(nonce: try nonce, transaction: transactionJSON) }
    }

    func options(credentialId: [UInt8]) throws -> JSONObject {
        var options: JSONObject = [
            "challenge": .string(Base64URL.encode(try challenge)), "rpId": .string(SampleIssuer.rpId),
            "allowCredentials": [["type": "public-key", "id": .string(Base64URL.encode(credentialId))]],
            "userVerification": .string(userVerification),
        ]
        if transaction == 3 { options["extensions"] = ["payment": .object(Self.payment)] }
        return options
    }

    private var userVerification: String {
        if flaw == .userVerification { return "required" }
        return transaction == 2 ? "discouraged" : "preferred"
    }

    private static let payment: JSONObject = [
        "isPayment": true,
        "instrument": ["displayName": "Visa 4242", "icon": "https://issuer.example/icon.png"],
    ]

    /// The form of assertion that it asks for.
    var form: AssertionForm {
        guard transaction == 3 else { return .get }
        return .payment(
            PaymentClientData(
                rpId: SampleIssuer.rpId, topOrigin: SampleIssuer.issuer, payeeName: "CoffeeHouse2 (Dæmø)",
                payeeOrigin: nil, total: PaymentClientData.Total(value: "1.00", currency: "USD"),
                instrument: PaymentClientData.Instrument(
                    icon: "https://issuer.example/icon.png", displayName: "Visa 4242")))
    }
}
