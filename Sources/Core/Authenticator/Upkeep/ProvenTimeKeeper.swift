import Journal
import Logging
import Records
import StoreTables
import StrictJSON
import TextAndTime

/// Keeper of the proven time: loads it at start, moves it up while the agent runs, and writes it.
struct ProvenTimeKeeper: Sendable {
    /// The seconds between two checks of the proven time in memory.
    static let pause: Double = 60
    /// The seconds by which it grows until it is written.
    ///
    /// A crash loses at most that many.
    static let step: Int64 = 3_600

    let ports: Ports
    let log: Logger

    private var time: ProvenTime { ports.provenTime }

    /// Works until the task is cancelled.
    func run() async throws {
        var (looked, wasAhead): (Double?, Bool) = (nil, false)
        while !Task.isCancelled {
            let begun = ports.clock.steady
            let isDue = looked.map { ports.clock.running - $0 >= Double(Self.step) } ?? true
            if isDue || time.isClockAhead || !time.isKept {
                do {
                    try await ports.patiently { try await look() }
                    looked = ports.clock.running
                } catch {
                    guard !Task.isCancelled else { return }
                    logFailure(error)
                }
            }
            let isAhead = time.isClockAhead
            if isAhead != wasAhead { logChange(isAhead: isAhead) }
            wasAhead = isAhead
            try await ports.clock.sleep(seconds: Self.pause, since: begun)
        }
    }

    private func logChange(isAhead: Bool) {
        if isAhead {
            log.error("the clock is ahead, and nothing is deleted by it", metadata: ["reason": "\(time.trouble ?? "")"])
        } else {
            log.notice("the clock is no longer ahead")
        }
    }

    /// Loads the time.
    ///
    /// Call before any other task starts and before any deletion.
    func begin() async throws {
        let (stored, newest) = try await ports.store.read { (try $0.provenTime(), try $0.newestTime()) }
        // Without a row, the agent was interrupted before it wrote one. The newest time of its data is then proven.
        if let found = stored ?? newest.map({ ProvenMoment(at: BoundedTime.nearest($0)) }) { time.adopt(found) }
    }

    /// Moves the proven time up to what the clock and the issuers prove, and writes it if it has grown.
    ///
    /// - Parameter growth: the growth from which it is written, in seconds.
    func look(growth: Int64 = step) async throws {
        let witness = time.witness
        let (stored, newest, isOnly) = try await ports.store.read { store in
            (
                try store.provenTime(), try store.newestTime(),
                try witness.map { try !store.hasActiveEnrollment(notOf: $0) } ?? false
            )
        }
        if let stored { time.adopt(stored) }
        guard stored != nil || newest != nil else { return time.followClock() }
        time.moveUp(only: isOnly ? witness : nil)
        let moment = time.moment
        if let stored, moment.acceptances == stored.acceptances, moment.at < stored.at.later(by: growth) { return }
        let kept = try await ports.store.write { store in
            try store.raise(moment)
            return try store.provenTime()
        }
        // Another host may have written a later one.
        if let kept { time.adopt(kept) }
    }

    /// Writes the present value, at the stop of the agent.
    func keep() async {
        do { try await look(growth: 1) } catch { logFailure(error) }
    }

    private func logFailure(_ error: any Error) {
        log.error("the proven time could not be kept", metadata: ["reason": "\(error)"])
    }

    /// Accepts the clock's time, ahead or behind, after a person has checked it.
    ///
    /// - Returns: the fault that was accepted. `nil` if there was none.
    func accept() async throws -> String? {
        let (clock, before) = (ports.clock.now, time.moment)
        let isBehind = time.isKept && time.isBehind(clock)
        let behind = "this machine's clock says \(UTCTime.text(clock)), and it was \(UTCTime.text(before.at)) already"
        guard let doubt = time.trouble ?? (isBehind ? behind : nil) else { return nil }
        let accepted = ProvenMoment(at: BoundedTime.nearest(clock), acceptances: before.acceptances + 1)
        try await ports.store.write { store in
            try store.raise(accepted)
            try store.record(.clockAccepted(before.at), at: clock)
        }
        time.adopt(accepted)
        return doubt
    }
}

extension JournalFact {
    /// The acceptance of the clock's time, which is the entry's own time.
    ///
    /// - Parameter proven: the time that was proven to have passed.
    static func clockAccepted(_ proven: Int64) -> JournalFact {
        JournalFact(.clockAccepted, ["proven": .string(UTCTime.text(proven))])
    }
}
