import Testing

@testable import WebAuthn

@Suite struct PaymentClientDataTests {
    @Test(arguments: BrowserVectors.currencies)
    func `a payment's client data is a browser's, byte for byte`(currency: String) throws {
        let bytes = ClientData.payment(
            challenge: BrowserVectors.challenge, origin: BrowserVectors.origin, BrowserVectors.payment(currency))
        #expect(bytes.text == (try BrowserVectors(currency).response.clientDataJSON.text))
    }

    @Test func `a payee's origin that did not come is left out`() {
        #expect(
            ClientData.payment(challenge: [1], origin: "o", .sample(payeeOrigin: nil)).text
                == #"{"type":"payment.get","challenge":"AQ","origin":"o","crossOrigin":false,"payment":{"rpId":"r","#
                + #""topOrigin":"t","payeeName":"p","paymentEntitiesLogos":[],"total":{"value":"1","currency":"EUR"},"#
                + #""instrument":{"icon":"i","displayName":"d"}}}"#)
    }

    @Test func `of a payment's texts only quotes, backslashes and controls are escaped`() throws {
        let text = "\"\\\t\u{7F}é/<\u{202E}"
        let bytes = ClientData.payment(
            challenge: [1], origin: "o", .sample(payeeName: text, payeeOrigin: text, icon: text, displayName: text))
        let written = #"\"\\\u0009"# + "\u{7F}é/<\u{202E}"
        for name in ["payeeName", "payeeOrigin", "icon", "displayName"] {
            #expect(bytes.text.contains("\"\(name)\":\"\(written)\""), "\(name)")
        }
        #expect(try CollectedClientData.parse(bytes).payment?.instrument.displayName == text)
    }

    @Test func `what is written of a payment is read`() throws {
        let bytes = ClientData.payment(challenge: [1], origin: "o", .sample())
        let data = try CollectedClientData.parse(bytes)
        let payment = try #require(data.payment)
        #expect(data.type == "payment.get")
        #expect(payment.rpId == "r" && payment.topOrigin == "t" && payment.payeeName == "p")
        #expect(payment.payeeOrigin == "https://payee.example")
        #expect(payment.total.value == "1" && payment.total.currency == "EUR")
        #expect(payment.instrument.icon == "i" && payment.instrument.displayName == "d")
    }

    @Test func `a member payment means nothing in a plain authentication`() throws {
        let text = #"{"type":"webauthn.get","challenge":"AQ","origin":"o","payment":{"total":1}}"#
        #expect(try CollectedClientData.parse(Array(text.utf8)).payment == nil)
    }

    @Test(arguments: [
        (#""payeeName":"p","#, ""), (#""rpId":"r","#, ""), (#""topOrigin":"t","#, ""), (#""value":"1","#, ""),
        (#","currency":"EUR""#, ""), (#""icon":"i","#, ""), (#","displayName":"d""#, ""),
        (#""paymentEntitiesLogos":[],"#, ""), (#""paymentEntitiesLogos":[]"#, #""paymentEntitiesLogos":[{}]"#),
        (#""p""#, #""""#), (#""p""#, "1"), (#""https://payee.example""#, "1"), (#""1""#, "1"), (#""EUR""#, #""EURO""#),
        (#"{"value":"1","currency":"EUR"}"#, "null"), (#""d""#, "null"), (#""rpId":"r""#, #""rpId":"r","rpId":"r""#),
    ])
    func `a payment that is not of its form is refused`(part: String, instead: String) throws {
        let good = ClientData.payment(challenge: [1], origin: "o", .sample()).text
        let bytes = Array(good.replacing(part, with: instead).utf8)
        #expect(bytes.text != good)
        #expect(throws: ClientDataError.self) { try CollectedClientData.parse(bytes) }
    }

    @Test func `a refusal of a payment names the member`() throws {
        let text = #"{"type":"payment.get","challenge":"AQ","origin":"o","payment":{"paymentEntitiesLogos":[]}}"#
        let error = try #require(throws: ClientDataError.self) { try CollectedClientData.parse(Array(text.utf8)) }
        #expect("\(error)" == "clientDataJSON: /payment/rpId is missing")
    }
}

extension PaymentClientData {
    /// A payment in order, of which a test changes one member.
    static func sample(
        rpId: String = "r", topOrigin: String = "t", payeeName: String = "p",
        payeeOrigin: String? = "https://payee.example", value: String = "1", currency: String = "EUR",
        icon: String = "i", displayName: String = "d"
    ) -> PaymentClientData {
        PaymentClientData(
            rpId: rpId, topOrigin: topOrigin, payeeName: payeeName, payeeOrigin: payeeOrigin,
            total: Total(value: value, currency: currency),
            instrument: Instrument(icon: icon, displayName: displayName))
    }
}
