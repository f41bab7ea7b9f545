import Testing

@testable import Sandbox

@Suite struct LoadPlanTests {
    @Test func `purchases are due at equal distances, and the last before the end`() throws {
        let plan = try LoadPlan(rate: 3, seconds: 2, drain: 0)
        #expect(plan.count == 6)
        #expect((0..<4).map(plan.due) == [.zero, .nanoseconds(333_333_333), .nanoseconds(666_666_666), .seconds(1)])
        #expect(plan.due(plan.count - 1) < .seconds(2))
    }

    @Test(arguments: [
        (0, 1, 0), (10_001, 1, 0), (1, 0, 0), (1, 86_401, 0), (1, 1, -1), (1, 1, 3_601), (10_000, 101, 0),
    ])
    func `a plan out of its bounds is refused`(rate: Int64, seconds: Int64, drain: Int64) {
        #expect(throws: SandboxClient.OrderError.self) { try LoadPlan(rate: rate, seconds: seconds, drain: drain) }
    }

    @Test func `a percentile is the least value that so many do not exceed`() {
        let hundred = Percentiles(of: (1...100).reversed().map(Int64.init))
        #expect([50, 90, 99, 100].map(hundred.value) == [50, 90, 99, 100])
        let two = Percentiles(of: [7, 3])
        #expect([1, 50, 51, 100].map(two.value) == [3, 3, 7, 7])
        #expect(Percentiles(of: []).value(50) == nil)
    }
}
