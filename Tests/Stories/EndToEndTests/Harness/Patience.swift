/// Waiting for conditions: what is waited for is looked at again and again, and every wait has a bound.
enum Patience {
    /// For anything that a loaded machine may take long over; reached only where something is wrong.
    static let usual = Duration.seconds(60)
    /// Between two looks; nothing depends on how long it is.
    private static let betweenLooks = Duration.milliseconds(20)

    struct Exceeded: Error, CustomStringConvertible {
        let description: String
    }

    /// The first value that `look` gives; `what` says what was waited for where none comes in time.
    static func until<Value>(
        _ what: String, within bound: Duration = usual, _ look: () async throws -> Value?
    ) async throws -> Value {
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: bound)
        while true {
            if let value = try await look() { return value }
            guard clock.now < deadline else { throw Exceeded(description: "\(what): not within \(bound)") }
            try await clock.sleep(for: betweenLooks)
        }
    }
}

/// Lets a few tests at a time go on: each runs several processes.
actor Places {
    static let shared = Places(free: 3)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(free: Int) { self.free = free }

    nonisolated func run(_ body: () async throws -> Void) async throws {
        await enter()
        do {
            try await body()
        } catch {
            await leave()
            throw error
        }
        await leave()
    }

    private func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
