import OOBTesting
import Testing

/// Each test has cardholders of its own, so they run side by side on one agent.
@Suite(.outOfBand) struct PaymentTests {
    let oob: OutOfBand

    init() throws { oob = try OutOfBand.ofThisSuite }

    @Test func `an approval authenticates the payment`() async throws {
        let payer = try await oob.cardholder()
        let request = try await payer.approve(oob.purchase(by: payer, cents: 100), expectAmount: "USD 1.00")
        #expect(request.transStatus == "Y")
        #expect(request.threeDSRequestorAppURL == "https://merchant.example/return")
    }

    @Test func `a denial does not`() async throws {
        let payer = try await oob.cardholder()
        let request = try await payer.deny(try await oob.purchase(by: payer, cents: 100))
        #expect((request.state, request.transStatus) == ("denied", "N"))
    }

    @Test func `another amount than expected is not approved`() async throws {
        let payer = try await oob.cardholder()
        let purchase = try await oob.purchase(by: payer, cents: 1000)
        let refusal = await #expect(throws: OOBError.self) {
            try await payer.approve(purchase, expectAmount: "USD 1.00")
        }
        #expect(refusal?.status == 4)
        #expect(try await payer.pending().map(\.acsTransId) == [purchase.acsTransId])
    }

    @Test func `another cardholder's request cannot be decided`() async throws {
        let payer = try await oob.cardholder()
        let purchase = try await oob.purchase(by: payer, cents: 100)
        let stranger = try await oob.cardholder()
        let refusal = await #expect(throws: OOBError.self) { try await stranger.approve(purchase, wait: 0) }
        #expect(refusal?.status == 3)
        try await payer.approve(purchase, expectAmount: "USD 1.00")
    }

    @Test(arguments: ["badSignature": "signature", "alteredAmount": "challenge"])
    func `an issuer notices who cheats`(persona: String, check: String) async throws {
        let purchase = try await oob.purchase(by: oob.cardholder(persona), cents: 100)
        #expect(try await purchase.failedCheck() == check)
    }
}

/// A clock that is set forward is that of all tests of a suite, so this one has programs of its own.
@Suite(.outOfBand) struct ExpiryTests {
    @Test func `ten minutes pass at once`() async throws {
        let oob = try OutOfBand.ofThisSuite
        let purchase = try await oob.purchase(by: oob.cardholder("neverAnswers"), cents: 100)
        try await oob.advanceClock(by: "10m")
        #expect(try await purchase.outcome() == "expired")
    }
}
