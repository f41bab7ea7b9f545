/// A thread for work that waits in system calls or keeps a processor busy for long.
///
/// It blocks none of the threads that Swift's tasks share, so it delays neither a decision nor a watchdog message to
/// systemd.
package enum OwnThread {
    /// The nice value of a thread at low priority (setpriority(2)): others get the processor first.
    private static let niceness: CInt = 10

    /// Runs `body`, and all the tasks within it, on a thread that is created for it and ends with it.
    ///
    /// - Throws: `SystemError` if the thread cannot be created, and the errors of `body`.
    package static func perform<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await OwnThreads(limit: 1).perform(body)
    }

    /// Runs `body` in the same way, on a thread with lower priority than the others of this process (nice(2)).
    ///
    /// If a service's system call filter forbids that, the thread has the same priority as the others.
    package static func runAtLowPriority<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await OwnThreads(limit: 1, niceness: niceness).perform(body)
    }
}
