import Testing

@testable import Prompting

struct CountdownTests {
    @Test(arguments: [
        (600, "10:00", "10 minutes"), (61, "1:01", "1 minute 1 second"), (60, "1:00", "1 minute"),
        (9, "0:09", "9 seconds"), (0, "0:00", "less than a second"), (-5, "0:00", "less than a second"),
    ])
    func `the time left is said in figures, or in words if it is read out`(
        seconds: Int64, figures: String, words: String
    ) throws {
        let countdown = try #require(Countdown(expiresAt: seconds, now: 0))
        #expect(countdown.text(Sample.traits()) == "Expires in \(figures).")
        #expect(countdown.text(Sample.traits(plain: true)) == "Expires in \(words).")
        #expect(countdown.isOver == (seconds <= 0))
    }

    @Test func `what never expires has no countdown`() {
        #expect(Countdown(expiresAt: nil, now: 0) == nil)
    }
}
