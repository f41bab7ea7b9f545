import Testing

/// Each test has a payer of its own, so they run side by side on one agent.
@Suite(.outOfBand) struct PaymentTests {
    let oob: OutOfBand
    let payer: Payer

    init() async throws {
        oob = try OutOfBand.ofThisSuite
        payer = try await oob.enroll()
    }

    @Test func `an approval authenticates the payment`() async throws {
        let acsTransId = try await oob.purchase(by: payer, cents: 100)
        let request = try await payer.approve(acsTransId, expectAmount: "USD 1.00")
        #expect(request.transStatus == "Y")
        #expect(request.threeDSRequestorAppURL == "https://merchant.example/return")
    }

    @Test func `a denial does not`() async throws {
        let request = try await payer.deny(try await oob.purchase(by: payer, cents: 100))
        #expect((request.state, request.transStatus) == ("denied", "N"))
    }

    @Test func `another amount than expected is not approved`() async throws {
        let acsTransId = try await oob.purchase(by: payer, cents: 1000)
        let refusal = await #expect(throws: OOBError.self) {
            try await payer.approve(acsTransId, expectAmount: "USD 1.00")
        }
        #expect(refusal?.status == 4)
        #expect(try await payer.pending().map(\.acsTransId) == [acsTransId])
    }

    @Test func `another payer's request cannot be decided`() async throws {
        let acsTransId = try await oob.purchase(by: payer, cents: 100)
        let stranger = try await oob.enroll()
        let refusal = await #expect(throws: OOBError.self) { try await stranger.approve(acsTransId, wait: 0) }
        #expect(refusal?.status == 3)
        try await payer.approve(acsTransId, expectAmount: "USD 1.00")
    }
}
