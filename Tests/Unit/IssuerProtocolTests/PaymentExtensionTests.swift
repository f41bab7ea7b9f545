import IssuerProtocol
import StrictJSON
import Testing
import ThreeDS
import WebAuthn

struct PaymentExtensionTests {
    private func transaction(_ changes: [String: String?] = [:]) throws -> Transaction {
        let members: [String: String] = [
            "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62", "merchantName": "Café",
            "purchaseAmount": "100", "purchaseCurrency": "840", "purchaseExponent": "2",
            "purchaseDate": "20231017055638",
        ]
        let changed = members.merging(changes.compactMapValues(\.self)) { $1 }.filter { changes[$0.key] != .some(nil) }
        return try Transaction(members: changed.map { TransactionMember(name: $0.key, value: $0.value) })
    }

    private func clientData(
        _ payment: PaymentExtension, _ changes: [String: String?] = [:]
    ) throws -> PaymentClientData {
        try payment.clientData(
            for: transaction(changes), rpId: "issuer.example", origin: "https://login.issuer.example")
    }

    @Test func `the extension is read and written the same`() throws {
        let payment = try PaymentExtension.sample()
        #expect(payment.payeeOrigin == "https://merchant.example")
        #expect(payment.displayName == "Visa 4242")
        #expect(payment.icon == "https://issuer.example/a")
        let text = String(decoding: JSONValue.object(payment.json).serialized(), as: UTF8.self)
        #expect(
            text == #"{"isPayment":true,"payeeOrigin":"https://merchant.example","#
                + #""instrument":{"displayName":"Visa 4242","icon":"https://issuer.example/a"}}"#)
        #expect(try PaymentExtension(json: payment.json).json == payment.json)
        #expect(try PaymentExtension.sample(payeeOrigin: nil).json["payeeOrigin"] == nil)
    }

    @Test func `an assertion says the transaction's merchant and the issuer's origin`() throws {
        let said = try clientData(.sample())
        #expect(said.rpId == "issuer.example" && said.topOrigin == "https://login.issuer.example")
        #expect(said.payeeName == "Café" && said.payeeOrigin == "https://merchant.example")
        #expect(said.instrument.icon == "https://issuer.example/a" && said.instrument.displayName == "Visa 4242")
        #expect(try clientData(.sample(payeeOrigin: nil)).payeeOrigin == nil)
    }

    @Test func `what the extension says of payee and total is never said`() throws {
        var json = try PaymentExtension.sample().json
        json["payeeName"] = "Other"
        json["total"] = ["value": "9.99", "currency": "EUR"]
        json["topOrigin"] = "https://other.example"
        json["rpId"] = "other.example"
        let said = try clientData(PaymentExtension(json: json))
        #expect(said.payeeName == "Café" && said.total.value == "1.00" && said.total.currency == "USD")
        #expect(said.topOrigin == "https://login.issuer.example" && said.rpId == "issuer.example")
    }

    @Test(arguments: [
        ("100", "840", "2", "1.00", "USD"), ("0012345", "978", "2", "123.45", "EUR"), ("0", "978", "2", "0.00", "EUR"),
        ("5", "048", "3", "0.005", "BHD"), ("1000", "392", "0", "1000", "JPY"),
        ("12345678", "352", "2", "123456.78", "ISK"),
        ("1", "978", "9", "0.000000001", "EUR"),
        (
            String(repeating: "9", count: 48), "978", "2", String(repeating: "9", count: 46) + ".99", "EUR"
        ),
    ])
    func `the total has exactly the decimals of the exponent that came`(
        amount: String, currency: String, exponent: String, value: String, code: String
    ) throws {
        let total = try clientData(
            .sample(), ["purchaseAmount": amount, "purchaseCurrency": currency, "purchaseExponent": exponent]
        ).total
        #expect(total.value == value && total.currency == code)
    }

    @Test func `without a purchase there is nothing to say`() throws {
        let refusal = try #require(throws: RequestRefusal.self) {
            try clientData(
                .sample(),
                ["purchaseAmount": nil, "purchaseCurrency": nil, "purchaseExponent": nil, "purchaseDate": nil])
        }
        #expect(refusal.token == "paymentExtension" && refusal.reason == .invalidRequest)
    }

    @Test(
        arguments: [
            (["isPayment": false], "/isPayment must be true"),
            (["isPayment": true, "instrument": ["displayName": "x"]], "/instrument/icon is missing"),
            (
                ["isPayment": true, "instrument": ["icon": "https://a", "displayName": ""]],
                "/instrument/displayName must have 1 to 64 characters"
            ),
        ] as [(JSONObject, String)])
    func `a refusal names the member and what is allowed`(json: JSONObject, sentence: String) throws {
        let error = try #require(throws: JSONMemberError.self) { try PaymentExtension(json: json) }
        #expect("\(error)" == sentence)
    }
}

extension PaymentExtension {
    /// An extension in order, of which a test changes one member.
    static func sample(
        payeeOrigin: String? = "https://merchant.example", displayName: String = "Visa 4242",
        icon: String = "https://issuer.example/a"
    ) throws -> PaymentExtension {
        var json: JSONObject = [
            "isPayment": true, "instrument": ["displayName": .string(displayName), "icon": .string(icon)],
        ]
        json["payeeOrigin"] = payeeOrigin.map(JSONValue.string)
        return try PaymentExtension(json: json)
    }
}
