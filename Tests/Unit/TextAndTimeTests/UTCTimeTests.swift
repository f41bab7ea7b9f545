import Testing
import TextAndTime

struct UTCTimeTests {
    @Test(
        arguments: [
            (1_697_522_198, "2023-10-17T05:56:38Z"), (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
        ] as [(Int64, String)])
    func `an instant is written in UTC by RFC 3339`(seconds: Int64, text: String) {
        #expect(UTCTime.text(seconds) == text)
    }

    @Test(
        arguments: [
            (253_402_300_799, "9999-12-31T23:59:59Z"), (253_402_300_800, "9999-12-31T23:59:59Z"),
            (.max, "9999-12-31T23:59:59Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
            (-62_135_596_801, "0001-01-01T00:00:00Z"), (.min, "0001-01-01T00:00:00Z"),
        ] as [(Int64, String)])
    func `an instant outside the years of four digits is written as the nearest inside`(seconds: Int64, text: String) {
        #expect(UTCTime.text(seconds) == text)
    }

    @Test(arguments: [0, 1_700_000_000, -62_135_596_800, 253_402_300_799])
    func `what was written is read again`(seconds: Int64) {
        #expect(UTCTime.seconds(UTCTime.text(seconds)) == seconds)
    }

    @Test(arguments: ["", "2023-10-17T05:56:38", "2023-10-17 05:56:38Z", "20231017055638", "2023-02-30T00:00:00Z"])
    func `what would not be written so is not read`(text: String) {
        #expect(UTCTime.seconds(text) == nil)
    }
}
