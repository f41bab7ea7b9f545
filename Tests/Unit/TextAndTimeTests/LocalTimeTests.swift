import Testing
import TextAndTime

struct LocalTimeTests {
    @Test(arguments: [
        (7_200, "CEST", "2023-10-17 07:56:38 CEST (+02:00)"), (0, "UTC", "2023-10-17 05:56:38 UTC (+00:00)"),
        (-12_600, "NST", "2023-10-17 02:26:38 NST (-03:30)"), (-21_600, "-06", "2023-10-16 23:56:38 -06 (-06:00)"),
        (1_172, "LMT", "2023-10-17 06:16:10 LMT (+00:19:32)"), (-1, "X", "2023-10-17 05:56:37 X (-00:00:01)"),
        (0, "A\nB", #"2023-10-17 05:56:38 A\u{A}B (+00:00)"#),
    ])
    func `a time is written in its zone`(offset: Int, abbreviation: String, text: String) {
        #expect(LocalTime { _ in (offset, abbreviation) }.text(1_697_522_198) == text)
    }

    @Test func `the zone is asked for the time that is written`() {
        let zone = LocalTime { seconds in seconds < 100 ? (0, "BEFORE") : (3_600, "AFTER") }
        #expect(zone.text(99) == "1970-01-01 00:01:39 BEFORE (+00:00)")
        #expect(zone.text(100) == "1970-01-01 01:01:40 AFTER (+01:00)")
    }

    @Test(arguments: [Int.max, Int.min, 86_401, -86_401])
    func `an offset of more than a day is not believed`(offset: Int) {
        #expect(LocalTime { _ in (offset, "X") }.text(0) == "1970-01-01 00:00:00 UTC (+00:00)")
    }

    @Test(arguments: [Int64.max, .min, 253_402_300_800, -62_135_596_801])
    func `a time without a year of four digits is written as a number`(seconds: Int64) {
        #expect(LocalTime.utc.text(seconds) == "\(seconds) seconds since 1970-01-01 00:00:00 UTC")
    }

    @Test(arguments: [(253_402_300_799, 1), (-62_135_596_800, -1)])
    func `a local time outside the years 1 to 9999 is written in UTC`(seconds: Int64, offset: Int) {
        #expect(LocalTime { _ in (offset, "X") }.text(seconds) == LocalTime.utc.text(seconds))
    }

    @Test func `every day of 800 years follows the one before`() throws {
        var previous = ""
        for day in Int64(-146_097)...146_097 {
            let text = String(LocalTime.utc.text(day * 86_400).prefix(10))
            try #require(text > previous)
            let date = try #require(CivilTime(digits: text.replacing("-", with: "") + "000000"))
            try #require(date.secondsSince1970 == day * 86_400)
            previous = text
        }
    }
}
