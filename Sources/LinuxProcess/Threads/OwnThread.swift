/// A thread for work that waits in system calls, so that it holds up none of the threads that Swift's tasks share.
package enum OwnThread {
    /// Runs `body`, and all the tasks within it, on a thread that is made for it and ends with it.
    ///
    /// - Parameter niceness: how much less of the processor it is given than others (setpriority(2)).
    /// - Throws: `SystemError` if there can be no thread, and what `body` throws.
    package static func run<Value: Sendable>(
        niceness: CInt = 0, _ body: () async throws -> Value
    ) async throws -> Value {
        let thread = try OwnThreads(limit: 1, niceness: niceness)
        return try await thread.run(body)
    }
}
