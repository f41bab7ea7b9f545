import Testing

@testable import Prompting

struct CountdownTests {
    @Test func `what never expires has no countdown`() {
        #expect(Countdown(expiresAt: nil, now: 0) == nil)
    }
}
