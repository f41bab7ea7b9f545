/// A thread of its own, behind all others of this process, for work that keeps a processor busy for long.
///
/// What is done there holds up none of the threads that Swift's tasks share, so it neither delays a decision nor a sign
/// of life. If the kernel allows it, the thread is also given less of the processor than others (nice(2)); a service
/// whose filter of system calls forbids that has a thread like all others.
package enum LowPriorityThread {
    /// How much nicer than others it is (setpriority(2)).
    private static let niceness: CInt = 10

    /// Runs `body`, and all the tasks within it, on a thread that is made for it and ends with it.
    package static func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await OwnThread.run(niceness: niceness, body)
    }
}
