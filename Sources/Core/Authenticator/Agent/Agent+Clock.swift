import IssuerProtocol
package import Journal
import Logging
import Records
import StoreTables
package import TextAndTime

/// What an agent's clock says.
package struct ClockFacts: Sendable {
    /// Seconds since 1970.
    package let now: Int64
    /// How many seconds a test has set it ahead of the machine's; nil if it is the machine's.
    package let offset: Int64?
}

/// Why a state cannot be used with the clock that the agent was started with, as a sentence.
package struct ClockError: Error, CustomStringConvertible {
    package let description: String
}

extension Agent {
    package var clock: ClockFacts { ClockFacts(now: ports.clock.now, offset: ports.testClock?.offset) }

    /// Sets the clock forward: durable when this returns, and requests that have expired are closed.
    ///
    /// - Throws: `CommandError` if it cannot be, or not so far.
    package func advanceClock(by advance: ClockAdvance, for peer: ControlPeer) async throws -> ClockFacts {
        guard let clock = ports.testClock else {
            throw CommandError(
                .invalidArgument,
                "this agent's clock is the machine's: only that of an agent that runs with --test-clock can be advanced"
            )
        }
        let offset = try await ports.store.write { store in
            let now = clock.now
            let offset = try Self.offset(after: advance, from: store.clockOffset())
            try store.set(clockOffset: offset)
            try store.record(.clockAdvanced(by: advance.seconds, to: offset, by: peer), at: now)
            store.afterCommit { clock.advance(to: offset) }
            return offset
        }
        log.notice(
            "the test clock was advanced",
            metadata: peer.logged(["seconds": "\(advance.seconds)", "offset": "\(offset)"]))
        // The expiry service does it too, but whoever has advanced the clock looks at once what has expired.
        _ = try? await expiryService.work()
        return self.clock
    }

    private static func offset(after advance: ClockAdvance, from before: Int64) throws(CommandError) -> Int64 {
        do throws(ClockAdvance.Refusal) {
            return try advance.added(to: before)
        } catch {
            throw CommandError(
                .invalidArgument,
                "\(error), and this one is \(ClockAdvance.text(before)) ahead; with a new state directory it begins anew"
            )
        }
    }

    /// Sets the clock as far forward as it was, before anything looks at it.
    ///
    /// - Throws: ``ClockError`` if this state is not for such a clock.
    func resumeClock() async throws {
        let hasTestClock = ports.testClock != nil
        let offset = try await ports.store.read { try $0.clockOffset() }
        // An enrollment that has ended has no key, and decides nothing.
        if hasTestClock, let other = try await enrollments(where: { $0.authnType != .test }).first {
            throw ClockError(
                description: "a state with an enrollment that is not authnType test takes no --test-clock: enrollment "
                    + "\(other.id) is \(other.authnType). Use another state directory for tests, or unenroll it first")
        }
        guard hasTestClock || offset == 0 else {
            throw ClockError(
                description:
                    "this state's clock was advanced by \(ClockAdvance.text(offset)), so that its times lie in "
                    + "the future: start with --test-clock, or use another state directory")
        }
        ports.testClock?.advance(to: offset)
    }

    /// Takes the clock as it is, which has not agreed with the proven time; before anything runs.
    ///
    /// - Returns: what was wrong, as a sentence; nil if nothing was.
    /// - Throws: as ``prepare(rewrapping:isReadingRows:onStep:)``; `StoreError` `.forged`.
    package func acceptClock() async throws -> String? {
        try await resumeClock()
        try await provenTimeKeeper.begin()
        let acceptance = try await headWatch.begin()
        if let acceptance { try await record(acceptance) }
        let doubt = try await provenTimeKeeper.accept()
        await headWatch.note()
        return doubt
    }
}
