import Synchronization

/// A handle that cancels an action set for a later time.
package struct Alarm: Sendable {
    private let callOff: @Sendable () -> Void

    package init(callingOff callOff: @escaping @Sendable () -> Void) { self.callOff = callOff }

    /// Cancels the alarm and frees its resources; the action may be under way.
    package func cancel() { callOff() }
}

extension AgentClock {
    /// The default for a clock that can only sleep.
    package func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        let sleeper = Task {
            if (try? await sleep(seconds: seconds)) != nil { action() }
        }
        return Alarm { sleeper.cancel() }
    }
}

/// The executor of unstructured tasks.
package enum WorkThreads {
    /// The executor of the store's threads, or `nil` for the executor of all other tasks.
    @TaskLocal package static var preferred: (any TaskExecutor)?
}

/// Runs work that other code than its caller can also cancel.
///
/// It returns when the work has ended, so the work must end soon after it is cancelled.
///
/// - Parameter whenBegun: receives a closure that cancels the work, and may call it at once. The closure that it
///   returns is called when the work has ended.
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
