import Dispatch
import HeapModule
import Records
import Synchronization

/// Alarms that share one timer.
///
/// Nearly every deadline is cancelled long before it is due. A `Task.sleep` that is cancelled keeps its memory
/// until its deadline. An alarm that is cancelled keeps no memory, and neither setting nor cancelling one wakes a
/// thread. Such sleeps were much of the third of its memory that the agent no longer keeps after a busy time (`make
/// bench ONLY=clients`).
///
/// The alarms follow the machine's clock, unless their time is set ahead.
final class Alarms: Sendable {
    static let shared = Alarms()

    private struct Entry: Comparable {
        let time: UInt64
        let id: UInt64

        static func < (left: Entry, right: Entry) -> Bool { (left.time, left.id) < (right.time, right.id) }
    }

    private struct State {
        /// The nanoseconds by which the alarms' time is ahead of the machine's.
        var ahead: UInt64 = 0
        var lastID: UInt64 = 0
        /// May contain cancelled alarms.
        var queue = Heap<Entry>()
        var set: [UInt64: (time: UInt64, action: @Sendable () -> Void)] = [:]
        /// The time when the timer fires; never later than the first entry of the queue.
        var timerTime = UInt64.max
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "alarms"))

        var now: UInt64 { DispatchTime.now().uptimeNanoseconds + ahead }
    }

    private let state = Mutex(State())

    /// The number of alarms that are set, and the number of entries in the queue.
    var setCount: Int { state.withLock { $0.set.count } }
    var queueCount: Int { state.withLock { $0.queue.count } }

    /// The seconds until the next alarm, or `nil` if no alarm is set.
    var secondsToNext: Double? {
        state.withLock { state in
            let times = state.set.values.map(\.time)
            return times.min().map { (Double($0) - Double(state.now)) / 1e9 }
        }
    }

    init() {
        state.withLock { state in
            state.timer.setEventHandler { [weak self] in self?.fire() }
            state.timer.activate()
        }
    }

    /// - Parameter action: called on the timer's thread, which it must not block.
    func set(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        let id = state.withLock { state in
            let time = state.now + Self.nanoseconds(seconds)
            state.lastID += 1
            state.set[state.lastID] = (time, action)
            state.queue.insert(Entry(time: time, id: state.lastID))
            if time < state.timerTime { schedule(time, &state) }
            return state.lastID
        }
        return Alarm { [self] in
            state.withLock { state in
                state.set.removeValue(forKey: id)
                // Cancelled entries never outnumber the others by much.
                if state.queue.count > 2 * state.set.count + 64 {
                    state.queue = Heap(state.set.map { Entry(time: $0.value.time, id: $0.key) })
                }
            }
        }
    }

    func sleep(seconds: Double) async throws(CancellationError) {
        let (ringing, bell) = AsyncStream.makeStream(of: Never.self)
        let alarm = set(after: seconds) { bell.finish() }
        defer { alarm.cancel() }
        // The loop ends also if the task is cancelled.
        for await _ in ringing {}
        if Task.isCancelled { throw CancellationError() }
    }

    /// The seconds by which the alarms' time is ahead of the machine's.
    var ahead: Int64 { state.withLock { Int64($0.ahead / 1_000_000_000) } }

    /// Sets the alarms' time ahead of the machine's.
    ///
    /// It never goes back.
    ///
    /// Alarms that become due fire before this returns.
    func setAhead(to seconds: Int64) {
        state.withLock { $0.ahead = max($0.ahead, Self.nanoseconds(Double(seconds))) }
        fire()
    }

    private func fire() {
        let due = state.withLock { state in
            let now = state.now
            var due: [@Sendable () -> Void] = []
            state.timerTime = .max
            while let first = state.queue.min {
                guard let set = state.set[first.id] else {
                    state.queue.removeMin()
                    continue
                }
                guard first.time <= now else {
                    schedule(first.time, &state)
                    break
                }
                state.queue.removeMin()
                state.set.removeValue(forKey: first.id)
                due.append(set.action)
            }
            return due
        }
        due.forEach { $0() }
    }

    private func schedule(_ time: UInt64, _ state: inout State) {
        state.timerTime = time
        state.timer.schedule(deadline: DispatchTime(uptimeNanoseconds: time - state.ahead))
    }

    /// At most a hundred years, so that the number does not overflow.
    private static func nanoseconds(_ seconds: Double) -> UInt64 {
        // In this order, so that NaN becomes 0.
        UInt64(min(max(0, seconds), 3.2e9) * 1e9)
    }
}
