import Testing

@testable import Records

/// What follows from wrong PINs.
struct PINTriesTests {
    /// Each try as soon as it is taken, and all wrong: the seconds between them.
    private func waits(_ count: Int) -> [Int64] {
        var (tries, now, waits) = (PINTries.fresh, Int64(1_000), [Int64]())
        for _ in 0..<count {
            tries = tries.begun(at: now)
            let next = tries.blockedUntil ?? now
            waits.append(next - now)
            now = next
        }
        return waits
    }

    @Test func `after five in a row there is a minute between tries, and then twice as long each time, up to a day`() {
        let day: Int64 = 86_400
        let doubling = [60, 120, 240, 480, 960, 1_920, 3_840, 7_680, 15_360, 30_720, 61_440] as [Int64]
        #expect(waits(200) == [0, 0, 0, 0] + doubling + Array(repeating: day, count: 185))
    }

    @Test func `it is blocked up to the second at which the next try is taken`() {
        let tries = PINTries(failures: 4, blockedUntil: nil).begun(at: 1_000)
        #expect(tries.isBlocked(at: 1_000) && tries.isBlocked(at: 1_059) && !tries.isBlocked(at: 1_060))
        #expect(!PINTries.fresh.isBlocked(at: .max))
    }

    @Test func `the tries that are left count down from five, and after a wait there is one`() {
        var tries = PINTries.fresh
        var left = [tries.left]
        for _ in 0..<6 {
            tries = tries.begun(at: 0)
            left.append(tries.left)
        }
        #expect(left == [5, 4, 3, 2, 1, 1, 1])
    }
}
