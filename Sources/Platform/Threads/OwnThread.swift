/// A thread for work that waits in system calls or keeps a processor busy for long.
///
/// It holds up none of the threads that Swift's tasks share, so it delays neither a decision nor a sign of life.
package enum OwnThread {
    /// The nice value of a thread at low priority (setpriority(2)): others get the processor first.
    private static let niceness: CInt = 10

    /// Runs `body`, and all the tasks within it, on a thread that is made for it and ends with it.
    ///
    /// - Throws: `SystemError` if there can be no thread, and what `body` throws.
    package static func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await OwnThreads(limit: 1).run(body)
    }

    /// The same on a thread behind all others of this process (nice(2)).
    ///
    /// A service whose filter of system calls forbids that has a thread like all others.
    package static func runAtLowPriority<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await OwnThreads(limit: 1, niceness: niceness).run(body)
    }
}
