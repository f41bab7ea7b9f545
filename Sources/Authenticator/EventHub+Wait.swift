extension EventHub {
    /// Looks for something now and after every event, for at most `seconds`; nil where it was not found in time.
    func wait<T: Sendable>(
        seconds: Double, on clock: any AgentClock, looking look: @escaping @Sendable () async throws -> T?
    ) async throws -> T? {
        // Listening begins before the first look, so nothing can happen in between unseen.
        let events = listen()
        if let found = try await look() { return found }
        guard seconds > 0 else { return nil }
        return try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask {
                for await _ in events {
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
