import Records
import Synchronization
import Testing

@testable import AgentHost

/// Deadlines of which nearly all are called off cost nothing once they are.
@Suite(.timeLimit(.minutes(20)))
struct AlarmsTests {
    private let alarms = Alarms()

    @Test func `alarms ring in the order of their times, and none that was called off`() async {
        let (rings, continuation) = AsyncStream.makeStream(of: Int.self)
        let last = alarms.set(after: 0.3) {
            continuation.yield(3)
            continuation.finish()
        }
        let calledOff = alarms.set(after: 0.05) { continuation.yield(0) }
        let second = alarms.set(after: 0.2) { continuation.yield(2) }
        let first = alarms.set(after: 0.1) { continuation.yield(1) }
        calledOff.cancel()
        #expect(await rings.reduce(into: []) { $0.append($1) } == [1, 2, 3])
        // To call off one that has rung does nothing.
        for alarm in [first, second, last] { alarm.cancel() }
        #expect(alarms.setCount == 0)
    }

    @Test func `of those that were called off nothing is left, long before their time`() {
        let kept = alarms.set(after: 7_200) {}
        for _ in 0..<10_000 { alarms.set(after: 3_600) {}.cancel() }
        #expect(alarms.setCount == 1)
        #expect(alarms.queueCount < 100)
        kept.cancel()
        #expect(alarms.setCount == 0)
    }

    @Test func `set forward, it rings what is due by then before it returns, and nothing else`() {
        let rung = Mutex<[Int]>([])
        let alarmed = [600, 599, 601].map { seconds in
            alarms.set(after: Double(seconds)) { rung.withLock { $0.append(seconds) } }
        }
        alarms.setAhead(to: 600)
        #expect(rung.withLock(\.self) == [599, 600])
        // One that is set from now on has its whole time before it, and the clock never goes back.
        let next = alarms.set(after: 600) { rung.withLock { $0.append(1_200) } }
        alarms.setAhead(to: 599)
        #expect(rung.withLock(\.self) == [599, 600])
        #expect(alarms.ahead == 600)
        alarms.setAhead(to: 1_200)
        #expect(rung.withLock(\.self) == [599, 600, 601, 1_200])
        for alarm in alarmed + [next] { alarm.cancel() }
    }

    @Test func `a timer that was set before an advance rings at its time after it`() async {
        let (rings, continuation) = AsyncStream.makeStream(of: Void.self)
        _ = alarms.set(after: 60.05) { continuation.finish() }
        alarms.setAhead(to: 60)
        for await _ in rings {}
        #expect(alarms.setCount == 0)
    }

    @Test(arguments: [-1, 0, Double.nan, -Double.infinity])
    func `one whose time has come rings at once`(seconds: Double) async {
        let (rings, continuation) = AsyncStream.makeStream(of: Void.self)
        _ = alarms.set(after: seconds) { continuation.finish() }
        for await _ in rings {}
    }

    @Test func `one for ever later than there will be rings never, and traps nothing`() {
        for seconds in [Double.infinity, Double.greatestFiniteMagnitude, 1e18] {
            alarms.set(after: seconds) {}.cancel()
        }
        #expect(alarms.setCount == 0)
    }

    @Test func `a sleep ends at its time, or at once if it is cancelled, and leaves nothing`() async throws {
        try await alarms.sleep(seconds: 0.01)
        let sleepers = (0..<100).map { _ in Task { try await alarms.sleep(seconds: 3_600) } }
        for sleeper in sleepers { sleeper.cancel() }
        for sleeper in sleepers {
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
        #expect(alarms.setCount == 0)
    }

    @Test func `of a long sleep that is cancelled nothing is left`() async {
        let clock = SystemClock(alarms)
        let sleepers = (0..<100).map { _ in Task { try await clock.sleep(seconds: 86_400) } }
        while alarms.setCount < sleepers.count { await Task.yield() }
        for sleeper in sleepers { sleeper.cancel() }
        for sleeper in sleepers {
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
        #expect(alarms.setCount == 0)
    }

    @Test func `a long sleep of the machine's clock looks at the time each 300 seconds, and goes on`() async throws {
        let clock = SystemClock(alarms)
        let sleeper = Task { try await clock.sleep(seconds: 86_400) }
        for look in 1...3 {
            while alarms.setCount == 0 { await Task.yield() }
            let seconds = try #require(alarms.secondsToNext)
            #expect(seconds <= 300)
            // As if the machine had run for so long: what rings then is no longer set when this returns.
            alarms.setAhead(to: Int64(look) * 300)
        }
        while alarms.setCount == 0 { await Task.yield() }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}

/// What several may cut off ends once, whoever does.
@Suite(.timeLimit(.minutes(20)))
struct CuttableTests {
    @Test func `work that is cut off before it begins is cancelled, and its end is told once`() async {
        let ends = Counter()
        await #expect(throws: CancellationError.self) {
            try await cuttable {
                try await Task.sleep(for: .seconds(3_600))
            } whenBegun: { cut in
                cut()
                return { ends.add() }
            }
        }
        #expect(ends.value == 1)
    }

    @Test func `work whose caller is cancelled is cancelled too`() async {
        let ends = Counter()
        let caller = Task {
            try await cuttable {
                try await Task.sleep(for: .seconds(3_600))
            } whenBegun: { _ in
                { ends.add() }
            }
        }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(ends.value == 1)
    }

    @Test func `what comes of work that was cut off too late still counts`() async throws {
        let ends = Counter()
        let value = try await cuttable {
            while !Task.isCancelled { await Task.yield() }
            return 7
        } whenBegun: { cut in
            cut()
            return { ends.add() }
        }
        #expect(value == 7)
        #expect(ends.value == 1)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock(\.self) }
        func add() { count.withLock { $0 += 1 } }
    }
}
