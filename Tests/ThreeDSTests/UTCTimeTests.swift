import Testing
import ThreeDS

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
}
