import Testing

@testable import Control

@Suite struct EventOutcomeTests {
    private static func event(_ name: String, _ change: (inout RequestView) -> Void) -> EventView {
        var request = RequestView(
            id: "r1", jti: "j1", acsTransId: "a1", enrollmentId: "e1", issuer: "https://issuer.example",
            state: .pending,
            delivery: .none, receivedAt: "2023-10-17T05:56:38Z")
        change(&request)
        return EventView(event: name, seq: 1, at: "2023-10-17T05:56:38Z", request: request)
    }

    @Test func `a decision says which it is, and why it was denied`() {
        #expect(Self.event("requestDecided") { $0.state = .approved }.outcome == "approved")
        let denied = Self.event("requestDecided") { ($0.state, $0.reason) = (.denied, "suspectedFraud") }
        #expect(denied.outcome == "denied (suspectedFraud)")
    }

    @Test func `a delivery says what the issuer made of it`() {
        let delivered = Self.event("requestDelivered") { ($0.state, $0.transStatus) = (.approved, "Y") }
        #expect(delivered.outcome == "approved: transStatus Y")
        let failed = Self.event("requestDeliveryFailed") {
            ($0.state, $0.deliveryFailure, $0.deliveryError) = (.denied, "expired", "no route to host")
        }
        #expect(failed.outcome == "denied: expired: no route to host")
    }

    @Test func `a refused request says why`() {
        let refused = Self.event("requestRefused") { ($0.state, $0.refusal) = (.refused, "amountInvalid") }
        #expect(refused.outcome == "refused: amountInvalid")
    }

    /// The request is shown as it is when the event is read, so one that was decided since is no outcome of an earlier event.
    @Test(arguments: ["requestPresented", "requestDuplicate", "requestExpired"])
    func `any other event has no outcome`(name: String) {
        #expect(Self.event(name) { $0.state = .approved }.outcome == nil)
        #expect(EventView(event: "enrolled", seq: 1, at: "2023-10-17T05:56:38Z").outcome == nil)
    }
}
