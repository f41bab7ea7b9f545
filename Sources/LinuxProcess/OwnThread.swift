import Dispatch
import Glibc
import Synchronization

/// A thread for work that waits in system calls, so that it holds up none of the threads that Swift's tasks share.
package enum OwnThread {
    /// Runs `body`, and all the tasks within it, on a thread that is made for it and ends with it.
    ///
    /// - Parameter niceness: how much less of the processor it is given than others (setpriority(2)).
    /// - Throws: `SystemError` if there can be no thread, and what `body` throws.
    package static func run<Value: Sendable>(
        niceness: CInt = 0, _ body: () async throws -> Value
    ) async throws -> Value {
        let queue = JobQueue(niceness: niceness)
        try queue.start()
        defer { queue.end() }
        return try await withTaskExecutorPreference(queue, operation: body)
    }
}

/// Jobs, and the thread that does them one after the other.
private final class JobQueue: TaskExecutor {
    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var isOver = false
    }

    private let niceness: CInt
    private let state = Mutex(State())
    /// Counts the jobs that are there, and the end.
    private let notifier = DispatchSemaphore(value: 0)

    init(niceness: CInt) { self.niceness = niceness }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        notifier.signal()
    }

    /// No more jobs come; the thread ends once it has done those that are there.
    func end() {
        state.withLock { $0.isOver = true }
        notifier.signal()
    }

    /// - Throws: `SystemError` if there can be no thread.
    func start() throws(SystemError) {
        var thread = pthread_t()
        let queue = unsafe Unmanaged.passRetained(self)
        let status = unsafe pthread_create(
            &thread, nil,
            { queue in
                guard let queue = unsafe queue else { return nil }
                unsafe Unmanaged<JobQueue>.fromOpaque(queue).takeRetainedValue().work()
                return nil
            }, queue.toOpaque())
        guard status == 0 else {
            unsafe queue.release()
            throw SystemError(operation: "pthread_create", errno: status)
        }
        pthread_detach(thread)
    }

    private func work() {
        // Of this thread alone: on Linux a priority is a thread's. If it may not be changed, it stays as it is.
        if niceness != 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
        while true {
            notifier.wait()
            let (job, isOver) = state.withLock { state in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isOver && state.jobs.isEmpty)
            }
            if let job { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            if isOver { return }
        }
    }
}
