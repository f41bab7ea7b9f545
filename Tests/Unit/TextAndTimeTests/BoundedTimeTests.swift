import Testing
import TextAndTime

struct BoundedTimeTests {
    @Test(
        arguments: [
            (Int64.min, 0), (-1, 0), (0, 0), (1, 1), (253_402_300_799, 253_402_300_799),
            (253_402_300_800, 253_402_300_799),
            (.max, 253_402_300_799),
        ] as [(Int64, Int64)])
    func `a time from outside is one of the years 1970 to 9999`(_ given: Int64, _ bounded: Int64) {
        #expect(BoundedTime.nearest(given) == bounded)
    }

    @Test(
        arguments: [
            (1, .min, .max), (-1, .max, .min), (.max, -1, .max), (.min, 1, .min), (.max, .min, .max),
            (.min, .max, .min),
            (0, .min, .max), (-2, .max, .min), (-1, .min, .max), (3, 1, 2), (1, 3, -2), (.min, .min, 0),
            (.max, .max, 0),
        ] as [(Int64, Int64, Int64)])
    func `the seconds between two times are as many as fit`(_ time: Int64, _ other: Int64, _ seconds: Int64) {
        #expect(time.seconds(since: other) == seconds)
    }

    @Test(
        arguments: [
            (.max, 1, .max), (.max, .max, .max), (.min, -1, .min), (.min, .min, .min), (1, 2, 3), (1, -3, -2),
            (.max, .min, -1), (.min, .max, -1), (.max, 0, .max),
        ] as [(Int64, Int64, Int64)])
    func `a time so much later is the last that fits`(_ time: Int64, _ seconds: Int64, _ later: Int64) {
        #expect(time.later(by: seconds) == later)
    }
}
