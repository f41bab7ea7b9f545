import IssuerProtocol
import StrictJSON
import Testing
import ThreeDS
import WebAuthn

@testable import Authenticator
@testable import Records

/// Assertions in the form of Secure Payment Confirmation.
@Suite(.timeLimit(.minutes(20)))
struct PaymentTests {
    private static let payment: JSONObject = [
        "isPayment": true, "payeeOrigin": "https://merchant.example",
        "instrument": ["displayName": "Visa 4242", "icon": "https://issuer.example/icon.png"],
    ]
    private static func payment(displayName: String) -> JSONObject {
        var payment = Self.payment
        payment["instrument"] = [
            "displayName": .string(displayName), "icon": "https://issuer.example/icon.png",
        ]
        return payment
    }
    private static let expected = PaymentClientData(
        rpId: "issuer.example", topOrigin: "https://issuer.example", payeeName: "CoffeeHouse2 (Dæmø)",
        payeeOrigin: "https://merchant.example", total: PaymentClientData.Total(value: "1.00", currency: "USD"),
        instrument: PaymentClientData.Instrument(
            icon: "https://issuer.example/icon.png", displayName: "Visa 4242"))

    private let sample: SampleAgent
    private let request = SampleRequest(payment: payment)

    init() throws { sample = try SampleAgent() }

    private func verify(
        _ response: AuthenticationResponse, _ form: AssertionForm, answers request: SampleRequest,
        of card: SampleEnrollment
    ) throws {
        _ = try AssertionVerifier.verify(
            response, form: form, publicKey: card.publicKey, credentialId: card.enrollment.credentialId,
            challenge: request.challenge, origin: "https://issuer.example", rpId: "issuer.example",
            userVerificationRequired: false, signCount: .mustRise(above: 0))
    }

    @Test func `an approval says what was confirmed, and its bytes are a browser's`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(request, for: card)
        try await sample.approve(sample.onlyRequest().id)
        let response = try await sample.outbox(of: card)[0].assertion
        try verify(response, .payment(Self.expected), answers: request, of: card)
        let bytes = ClientData.payment(
            challenge: try request.challenge, origin: "https://issuer.example", Self.expected)
        #expect(response.clientDataJSON == bytes)
    }

    @Test func `after a restart it is still a payment that is confirmed`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(request, for: card)
        let later = try sample.restarted()
        try await later.approve(later.onlyRequest().id)
        try verify(
            try await later.outbox(of: card)[0].assertion, .payment(Self.expected), answers: request, of: card)
    }

    @Test(arguments: [
        ("https://issuer.example/icon.png", "issuer.example"), ("HTTPS://Issuer.Example:8443?a", "issuer.example:8443"),
        ("https://issuer.example@evil.example/", "evil.example"), ("http://localhost/x", "localhost"),
        ("https://issuer.example#@evil.example", "issuer.example"),
        ("data:image/png;base64,AAAA", "data:image/png, SHA-256 \(digestOfIcon)"),
    ])
    func `the icon's URL that is signed is shown`(icon: String, shown: String) async throws {
        let card = try await sample.enrolled()
        var payment = Self.payment
        payment["instrument"] = ["displayName": "Visa 4242", "icon": .string(icon)]
        try await sample.receive(SampleRequest(payment: payment), for: card)
        let text = try #require(try await sample.agent.text(of: sample.onlyRequest())).text
        #expect(text.split(separator: "\n").contains("Icon:       \(shown)"))
    }

    /// As `printf %s data:image/png;base64,AAAA | sha256sum` prints it.
    private static let digestOfIcon = "bde6da8e9d3902a86a1452ec62648cd07cb1cfbae0ec8dd5142ad881c7aa2ba0"

    @Test func `payee and instrument are shown`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(request, for: card)
        let shown = try #require(try await sample.agent.text(of: sample.onlyRequest()))
        let lines = shown.text.split(separator: "\n")
        #expect(lines.contains("Payee:      https://merchant.example"))
        #expect(lines.contains("Instrument: Visa 4242"))
        #expect(!shown.text.contains("icon.png"))
    }

    @Test func `an instrument's hostile name is shown escaped, with a warning, and signed as it came`() async throws {
        let card = try await sample.enrolled()
        let name = "Visa\u{202E}4242\nAmount: USD 0.01"
        let request = SampleRequest(payment: Self.payment(displayName: name))
        try await sample.receive(request, for: card)
        let record = try await sample.onlyRequest()
        #expect(record.warnings(for: card.enrollment).map(\.id) == ["hostileText"])
        let shown = try #require(try await sample.agent.text(of: record))
        #expect(shown.text.contains(#"Instrument: Visa\u{202E}4242\u{A}Amount: USD 0.01"#))
        try await sample.approve(record.id)
        let data = try CollectedClientData.parse(try await sample.outbox(of: card)[0].assertion.clientDataJSON)
        #expect(data.payment?.instrument.displayName == name)
    }

    @Test func `the same payment under a newer jti takes over`() async throws {
        let card = try await sample.enrolled()
        let newer = SampleRequest(jti: "newer", iat: 10, nonce: Array(1...32), payment: Self.payment)
        try await sample.receive(request, newer, for: card)
        let record = try await sample.onlyRequest()
        #expect(record.jti.text == "newer" && !record.hasConflict)
        try await sample.approve(record.id)
        try verify(
            try await sample.outbox(of: card)[0].assertion, .payment(Self.expected), answers: newer, of: card)
    }

    @Test(arguments: [nil, payment(displayName: "Visa 4243")] as [JSONObject?])
    func `the same transaction with another form or instrument is a conflict`(other: JSONObject?) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(request, SampleRequest(jti: "other", iat: 10, payment: other), for: card)
        let (first, second) = try await (sample.requests()[0], sample.requests()[1])
        #expect(first.life == .pending && first.hasConflict)
        #expect(second.life == .refused(token: "conflict", reason: .invalidRequest) && second.presented == nil)
        let outbox = try await sample.outbox(of: card)
        #expect(outbox.map(\.jti.text) == ["other"])
        guard case .deny(.invalidRequest) = try outbox[0].decision else { throw SampleError("not denied") }
    }

    @Test func `a payment extension that is not of its form is refused and never shown`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(payment: ["isPayment": true]), for: card)
        let record = try await sample.onlyRequest()
        #expect(record.life == .refused(token: "paymentExtension", reason: .invalidRequest))
        #expect(try await sample.agent.text(of: record) == nil)
    }
}
