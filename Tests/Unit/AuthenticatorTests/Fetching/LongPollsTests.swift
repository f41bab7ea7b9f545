import IssuerProtocol
import Testing

@testable import Authenticator

struct LongPollsTests {
    @Test func `issuers take turns at long polls, and who has no place polls without one until its turn`() throws {
        let polls = LongPolls(limit: 1)
        let one = try IssuerURL("https://one.example")
        var first = polls.seat(for: one)
        var second = polls.seat(for: one)
        var other = polls.seat(for: try IssuerURL("https://other.example"))
        var held = [first.mayHold(), second.mayHold(), other.mayHold()]
        #expect(held == [true, false, false])
        first.handOn()
        held = [other.mayHold(), second.mayHold(), first.mayHold()]
        #expect(held == [true, false, false])
        other.handOn()
        held = [second.mayHold(), first.mayHold()]
        #expect(held == [true, false])
        second.leaveIfHeld()
        let isLast = first.mayHold()
        #expect(isLast)
    }

    @Test func `a place that nobody waits for is kept, and one that waits keeps its turn`() throws {
        let polls = LongPolls(limit: 1)
        let issuer = try IssuerURL("https://one.example")
        var first = polls.seat(for: issuer)
        var held = first.mayHold()
        #expect(held)
        first.handOn()
        var second: LongPolls.Seat? = polls.seat(for: issuer)
        held = second?.mayHold() ?? true
        #expect(!held)
        second?.leaveIfHeld()
        second?.handOn()
        first.leaveIfHeld()
        held = second?.mayHold() ?? false
        #expect(held)
        // A loop that ends gives its place back.
        second = nil
        held = first.mayHold()
        #expect(held)
    }
}
