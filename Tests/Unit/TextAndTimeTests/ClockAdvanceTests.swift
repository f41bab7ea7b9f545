import Testing
import TextAndTime

@Suite struct ClockAdvanceTests {
    @Test(
        arguments: [
            ("1s", 1), ("90s", 90), ("10m", 600), ("1h30m", 5_400), ("2d", 172_800), ("1d1h1m1s", 90_061),
            ("0h5m", 300), ("400d", 34_560_000),
        ] as [(String, Int64)])
    func `a time is whole numbers with their units`(text: String, seconds: Int64) throws {
        #expect(try ClockAdvance(text).seconds == seconds)
    }

    @Test(arguments: [
        "", "10", "m", "10x", "10M", "1.5h", "10 m", " 10m", "10m ", "30m1h", "1m1m", "+10m", "10m5", "١m",
        "10m\u{301}",
        "99999999999999999999s", "--5m",
    ])
    func `anything else is refused, and the refusal says what is allowed`(text: String) {
        #expect {
            try ClockAdvance(text)
        } throws: { error in
            "\(error)".hasSuffix(
                "must be whole numbers with the units d, h, m and s, the largest first, such as 10m or 1h30m")
        }
    }

    @Test(arguments: [
        ("0s", "a clock moves by 1s at least"), ("0d0h", "a clock moves by 1s at least"),
        ("-5m", "a clock only goes forwards: give a time above 0"),
        ("-0s", "a clock only goes forwards: give a time above 0"),
        ("401d", "all advances of a clock come to 400d at most"),
        ("400d1s", "all advances of a clock come to 400d at most"),
        ("9223372036854775807d", "all advances of a clock come to 400d at most"),
    ])
    func `no time, a time backwards and one beyond the bound are told apart`(text: String, sentence: String) {
        #expect {
            try ClockAdvance(text)
        } throws: { "\($0)" == sentence }
    }

    @Test func `advances add up to the bound and not beyond it`() throws {
        let day = try ClockAdvance("1d")
        #expect(try day.added(to: ClockAdvance.maxOffset - 86_400) == ClockAdvance.maxOffset)
        #expect(throws: ClockAdvance.Refusal.self) { try day.added(to: ClockAdvance.maxOffset - 86_399) }
    }

    @Test(arguments: [Int64.min, -1, 0, ClockAdvance.maxOffset + 1, .max])
    func `a number of seconds out of bounds is refused`(seconds: Int64) {
        #expect(throws: ClockAdvance.Refusal.self) { try ClockAdvance(seconds: seconds) }
    }
}
