package import Records

extension EventHub {
    /// Calls `look` until it returns a value, or until `seconds` have passed.
    ///
    /// It is called at once, after every relevant event, after a gap, and once more at the end. So a lost event costs a
    /// client time, but never the answer.
    ///
    /// - Returns: `nil` if no value was found in time.
    package func wait<T: Sendable>(
        seconds: Double, on clock: any AgentClock, for isRelevant: @escaping @Sendable (AgentEvent) -> Bool,
        looking look: @escaping @Sendable () async throws -> T?
    ) async throws -> T? {
        // Listening begins before the first look, so that no event in between is missed.
        let notifier = notifier { isRelevant($0) || $0.isGap }
        if let found = try await look() { return found }
        guard seconds > 0 else { return nil }
        let deadline = clock.alarm(after: seconds) { notifier.continuation.finish() }
        defer { deadline.cancel() }
        for await _ in notifier {
            if let found = try await look() { return found }
        }
        try Task.checkCancellation()
        return try await look()
    }
}

extension AgentClock {
    /// Waits until `seconds` have passed since a moment of the steady clock.
    ///
    /// If that moment is the start of some work, an advance of the clock during the work is noticed.
    package func sleep(seconds: Double, since begun: Double) async throws {
        try await sleep(seconds: begun + seconds - steady)
    }

    /// Waits likewise, or until the notifier rings.
    package func sleep(seconds: Double, since begun: Double, orUntil notifier: EventNotifier) async throws {
        try await sleep(seconds: begun + seconds - steady, orUntil: notifier)
    }

    /// Waits for `seconds`, or until the notifier rings; a ring from before counts.
    ///
    /// At the end of the time the clock rings the notifier, so no task is needed. With two tasks for each service that
    /// an event wakes, the store's threads were woken 18 times for each received request. Without them it is 14 times
    /// (`voluntary_ctxt_switches` of `/proc/PID/task`).
    package func sleep(seconds: Double, orUntil notifier: EventNotifier) async throws {
        let alarm = alarm(after: seconds) { notifier.wake() }
        defer { alarm.cancel() }
        for await _ in notifier { return }
        try Task.checkCancellation()
    }
}
