import Keys
import Testing

@testable import WebAuthn

@Suite struct PaymentAssertionTests {
    @Test(arguments: BrowserVectors.currencies)
    func `a browser's payment assertion holds for the payment that was asked`(currency: String) throws {
        #expect(try verifyBrowsers(currency, .payment(BrowserVectors.payment(currency))) == (currency == "JPY" ? 2 : 3))
    }

    @Test(arguments: BrowserVectors.currencies)
    func `a browser's payment assertion is no webauthn_get`(currency: String) throws {
        let failure = try #require(throws: VerificationError.self) { try verifyBrowsers(currency, .get) }
        #expect(failure.code == .type)
    }

    @Test(arguments: [("EUR", "JPY"), ("JPY", "EUR")])
    func `a browser's payment assertion does not hold for another total`(currency: String, other: String) throws {
        let failure = try #require(throws: VerificationError.self) {
            try verifyBrowsers(currency, .payment(BrowserVectors.payment(other)))
        }
        #expect(failure == VerificationError(.total, "total.value is not what was to be confirmed"))
    }

    private func verifyBrowsers(_ currency: String, _ form: AssertionForm) throws -> UInt32 {
        let vector = try BrowserVectors(currency)
        return try AssertionVerifier.verify(
            vector.response, form: form, publicKey: vector.publicKey, credentialId: vector.response.credentialId,
            userHandle: [1, 2, 3], challenge: BrowserVectors.challenge, origin: BrowserVectors.origin,
            rpId: "localhost", userVerificationRequired: true, signCount: .mustRise(above: 1))
    }

    @Test(
        arguments: [
            (.paymentRpId, .sample(rpId: "R")), (.paymentTopOrigin, .sample(topOrigin: "t/")),
            (.payeeName, .sample(payeeName: "p ")), (.payeeOrigin, .sample(payeeOrigin: "https://payee.example.")),
            (.payeeOrigin, .sample(payeeOrigin: nil)), (.total, .sample(value: "1.0")),
            (.total, .sample(currency: "USD")), (.instrument, .sample(icon: "I")),
            (.instrument, .sample(displayName: "d.")),
        ] as [(VerificationError.Code, PaymentClientData)])
    func `each member of a payment is checked`(code: VerificationError.Code, said: PaymentClientData) throws {
        let failure = try #require(throws: VerificationError.self) { try verify(said, asked: .sample()) }
        #expect(failure.code == code)
    }

    @Test func `a payee's origin that was not asked for is refused`() throws {
        let failure = try #require(throws: VerificationError.self) {
            try verify(.sample(), asked: .sample(payeeOrigin: nil))
        }
        #expect(failure.code == .payeeOrigin)
    }

    @Test func `names that are only equivalent by Unicode are different`() throws {
        #expect(try verify(.sample(payeeName: "é"), asked: .sample(payeeName: "é")) == 6)
        let failure = try #require(throws: VerificationError.self) {
            try verify(.sample(payeeName: "e\u{301}"), asked: .sample(payeeName: "é"))
        }
        #expect(failure.code == .payeeName)
    }

    @Test func `members that a browser adds change nothing`() throws {
        let added = #","other_keys_can_be_added_here":"do not compare clientDataJSON against a template""#
        #expect(try verify(.sample(), asked: .sample()) { $0.dropLast() + added + "}" } == 6)
        #expect(try verify(.sample(), asked: .sample()) { $0.dropLast(2) + added + "}}" } == 6)
        #expect(
            try verify(.sample(), asked: .sample()) { $0.replacing(#""total":{"#, with: #""x":1,"total":{"y":2,"#) }
                == 6)
    }

    @Test func `a payment assertion without a payment is refused`() throws {
        let failure = try #require(throws: VerificationError.self) {
            try verify(.sample(), asked: .sample()) { $0.replacing(#""payment""#, with: #""other""#) }
        }
        #expect(failure == VerificationError(.clientData, "clientDataJSON: /payment is missing"))
    }

    @Test func `a plain assertion does not hold if a payment was to be confirmed`() throws {
        let failure = try #require(throws: VerificationError.self) {
            try verify(.sample(), asked: .sample()) { $0.replacing("payment.get", with: "webauthn.get") }
        }
        #expect(failure.code == .type)
    }

    @Test func `the rest of a payment assertion is checked as of any`() throws {
        for expected in ClientDataCase.all where expected.code != .type {
            var clientData = SampleClientData(type: "payment.get")
            expected.change(&clientData)
            let failure = try #require(throws: VerificationError.self) {
                try verify(clientData.text, asked: .sample())
            }
            #expect(failure.code == expected.code)
        }
    }

    /// Signs what a client says of a payment, and verifies it as the answer to what was asked.
    private func verify(
        _ said: PaymentClientData, asked: PaymentClientData, change: (String) -> String = { $0 }
    ) throws -> UInt32 {
        try verify(
            change(ClientData.payment(challenge: Sample.challenge, origin: Sample.origin, said).text), asked: asked)
    }

    private func verify(_ clientData: String, asked: PaymentClientData) throws -> UInt32 {
        let key = try SigningKey.generate(.es256)
        let data = try AuthenticatorData(rpId: Sample.rpId, flags: [.userPresent], signCount: 6).encoded()
        let bytes = Array(clientData.utf8)
        let signed = try SignedBytes.of(authenticatorData: data, clientDataJSON: bytes)
        return try AssertionVerifier.verify(
            AuthenticationResponse(
                credentialId: Sample.credentialId, clientDataJSON: bytes, authenticatorData: data,
                signature: key.signature(over: signed)),
            form: .payment(asked), publicKey: key.publicKey, credentialId: Sample.credentialId,
            challenge: Sample.challenge, origin: Sample.origin, rpId: Sample.rpId, userVerificationRequired: false,
            signCount: .mustRise(above: 5))
    }
}

extension SampleClientData {
    fileprivate var text: String { bytes.text }
}
