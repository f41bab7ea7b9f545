extension EventHub {
    /// Looks for something now and after every relevant event; nil if it was not found in time.
    func wait<T: Sendable>(
        seconds: Double, on clock: any AgentClock, for isRelevant: @escaping @Sendable (AgentEvent) -> Bool,
        looking look: @escaping @Sendable () async throws -> T?
    ) async throws -> T? {
        // Listening begins before the first look, so nothing can happen in between unseen.
        let notifier = notifier(for: isRelevant)
        if let found = try await look() { return found }
        guard seconds > 0 else { return nil }
        return try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask {
                for await _ in notifier {
                    if let found = try await look() { return found }
                }
                return nil
            }
            group.addTask {
                try await clock.sleep(seconds: seconds)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

extension AgentClock {
    /// Waits for `seconds`, or until the notifier rings; a ring from before counts.
    package func sleep(seconds: Double, orUntil notifier: AsyncStream<Void>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in notifier { return }
            }
            group.addTask { try await sleep(seconds: seconds) }
            try await group.next()
            group.cancelAll()
        }
    }
}
