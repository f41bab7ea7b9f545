import Synchronization

/// What is to be done at a time, until it is called off.
package struct Alarm: Sendable {
    private let callOff: @Sendable () -> Void

    package init(callingOff callOff: @escaping @Sendable () -> Void) { self.callOff = callOff }

    /// Nothing is left of it then; what it does may be under way.
    package func cancel() { callOff() }
}

extension AgentClock {
    /// For a clock that only lets its callers sleep.
    package func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        let sleeper = Task {
            if (try? await sleep(seconds: seconds)) != nil { action() }
        }
        return Alarm { sleeper.cancel() }
    }
}

/// Where a task that is not part of another one's runs.
package enum WorkThreads {
    /// The threads on which the store is at hand; `nil` for those where all tasks run.
    @TaskLocal package static var preferred: (any TaskExecutor)?
}

/// Does work that something else than its caller may cut off too, by cancelling it.
///
/// It returns when the work has ended, so that must be soon after it is cancelled.
///
/// - Parameter whenBegun: given what cuts the work off, which may be called at once; what it gives is called when the
///   work has ended.
package func cuttable<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value,
    whenBegun: (@escaping @Sendable () -> Void) -> @Sendable () -> Void
) async throws -> Value {
    let task = Task(executorPreference: WorkThreads.preferred) { try await work() }
    let end = whenBegun { task.cancel() }
    defer { end() }
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}
