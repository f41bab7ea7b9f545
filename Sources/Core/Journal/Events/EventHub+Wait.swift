package import Records

extension EventHub {
    /// Looks for something now, after every relevant event, after a gap, and once more when the time is over, so that a
    /// lost event costs a client its time and never the answer.
    ///
    /// - Returns: nil if it was not found in time.
    package func wait<T: Sendable>(
        seconds: Double, on clock: any AgentClock, for isRelevant: @escaping @Sendable (AgentEvent) -> Bool,
        looking look: @escaping @Sendable () async throws -> T?
    ) async throws -> T? {
        // Listening begins before the first look, so nothing can happen in between unseen.
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
    /// If work began then, a clock that was advanced during the work is noticed.
    package func sleep(seconds: Double, since begun: Double) async throws {
        try await sleep(seconds: begun + seconds - steady)
    }

    /// Likewise, or until the notifier rings.
    package func sleep(seconds: Double, since begun: Double, orUntil notifier: EventNotifier) async throws {
        try await sleep(seconds: begun + seconds - steady, orUntil: notifier)
    }

    /// Waits for `seconds`, or until the notifier rings; a ring from before counts.
    ///
    /// The clock rings it when the time is over, which costs no task: with two tasks for each service that an event wakes,
    /// the store's threads were woken 18 times while a request is received, and are 14 times
    /// (`voluntary_ctxt_switches` of `/proc/PID/task`).
    package func sleep(seconds: Double, orUntil notifier: EventNotifier) async throws {
        let alarm = alarm(after: seconds) { notifier.ring() }
        defer { alarm.cancel() }
        for await _ in notifier { return }
        try Task.checkCancellation()
    }
}
