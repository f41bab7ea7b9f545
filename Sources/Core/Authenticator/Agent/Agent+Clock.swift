import IssuerProtocol
package import Journal
import Logging
import Records
import StoreTables
package import TextAndTime

/// A reading of the agent's clock.
package struct ClockFacts: Sendable {
    /// Seconds since 1970.
    package let now: Int64
    /// Seconds by which a test has set the clock ahead of the machine's, or `nil` for the machine's clock.
    package let offset: Int64?
}

/// The error of a state that cannot be used with the clock that the agent was started with.
package struct ClockError: Error, CustomStringConvertible {
    package let description: String
}

extension Agent {
    package var clock: ClockFacts { ClockFacts(now: ports.clock.now, offset: ports.testClock?.offset) }

    /// Advances the test clock.
    ///
    /// When this returns, the new offset is durable, and requests that have expired are closed.
    ///
    /// - Throws: `CommandError` if the clock cannot be advanced, or not by that much.
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
        // The expiry service closes expired requests too, but the caller may look for them at once.
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

    /// Restores the stored offset of the test clock, before anything reads the clock.
    ///
    /// - Throws: ``ClockError`` if this state cannot be used with the agent's clock.
    func resumeClock() async throws {
        let hasTestClock = ports.testClock != nil
        let offset = try await ports.store.read { try $0.clockOffset() }
        // Ended enrollments do not count: they have no key and decide no request.
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

    /// Accepts a clock that disagrees with the proven time.
    ///
    /// Call before anything runs.
    ///
    /// - Returns: the doubt about the clock, as a sentence. `nil` if there was none.
    /// - Throws: the errors of ``prepare(rewrapping:isReadingRows:onStep:)``, and `StoreError` `.forged`.
    package func acceptClock() async throws -> String? {
        try await resumeClock()
        try await provenTimeKeeper.begin()
        let acceptance = try await headWatch.begin()
        if let acceptance { try await record(acceptance) }
        let doubt = try await provenTimeKeeper.accept()
        await headWatch.save()
        return doubt
    }
}
