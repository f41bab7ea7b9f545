import DequeModule
import Dispatch
import Glibc
package import LinuxProcess
import Synchronization

/// A few threads for tasks that wait in system calls, such as for a disk: they hold up nobody else's tasks.
///
/// One is there from the beginning on; others come when they are needed, and end when they have had nothing to do for a
/// while. All end when nobody has this any more; whoever runs something on them has it until that returns.
///
/// To call ``run(_:)`` from one of them takes 0.3 µs of processor time, and from elsewhere 10 to 30 for the changes of
/// threads. An approval does so some 13 times, in 3.3 ms (`make bench ONLY=processor`).
package final class OwnThreads: Sendable {
    private let jobs: JobQueue

    /// For tasks that end within a call of ``run(_:)``.
    package var executor: any TaskExecutor { jobs }

    /// - Parameters:
    ///   - limit: how many may wait at a time.
    ///   - niceness: how much less of the processor they are given than others (setpriority(2)).
    /// - Throws: `SystemError` if there can be no thread.
    package init(limit: Int, niceness: CInt = 0) throws(SystemError) {
        jobs = JobQueue(limit: limit, niceness: niceness)
        try jobs.startThread(isLasting: true)
    }

    deinit { jobs.end() }

    /// Runs `body`, and all the tasks within it, on these threads; at once if it is called on one of them.
    ///
    /// - Throws: what `body` throws.
    package func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await withTaskExecutorPreference(jobs, operation: body)
    }
}

/// Jobs, and the threads that do them in the order in which they came.
private final class JobQueue: TaskExecutor {
    private struct State: Sendable {
        var jobs: Deque<UnownedJob> = []
        /// Those that are there or about to be.
        var threads = 1
        /// The number of threads that have nothing to do.
        var idle = 0
        var isOver = false

        /// Whether there is a thread too few for the jobs; then it is about to be there.
        mutating func addThread(within limit: Int) -> Bool {
            guard jobs.count > idle, threads < limit, !isOver else { return false }
            threads += 1
            return true
        }
    }

    /// After so many seconds without work a thread ends, except one.
    private static let idleSeconds = 10

    private let limit: Int
    private let niceness: CInt
    private let state = Mutex(State())
    /// Counts the jobs, and at the end the threads.
    private let notifier = DispatchSemaphore(value: 0)

    init(limit: Int, niceness: CInt) {
        self.limit = limit
        self.niceness = niceness
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isThreadMissing = state.withLock { state in
            state.jobs.append(job)
            return state.addThread(within: limit)
        }
        notifier.signal()
        guard isThreadMissing else { return }
        do {
            try startThread(isLasting: false)
        } catch {
            // The others do it, later.
            state.withLock { $0.threads -= 1 }
        }
    }

    /// Nobody has the threads any more; they end once they have done all jobs, and those that come of them.
    func end() {
        let threads = state.withLock { state in
            state.isOver = true
            return state.threads
        }
        for _ in 0..<threads { notifier.signal() }
    }

    /// - Parameter isLasting: whether the thread stays if it has nothing to do.
    /// - Throws: `SystemError` if there can be no thread.
    func startThread(isLasting: Bool) throws(SystemError) {
        var thread = pthread_t()
        let start = unsafe Unmanaged.passRetained(ThreadStart(queue: self, isLasting: isLasting))
        let status = unsafe pthread_create(
            &thread, nil,
            { start in
                guard let start = unsafe start else { return nil }
                let taken = unsafe Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue()
                taken.queue.work(isLasting: taken.isLasting)
                return nil
            }, start.toOpaque())
        guard status == 0 else {
            unsafe start.release()
            throw SystemError(operation: "pthread_create", errno: status)
        }
        pthread_detach(thread)
    }

    fileprivate func work(isLasting: Bool) {
        // Of this thread alone: on Linux a priority is a thread's. If it may not be changed, it stays as it is.
        if niceness != 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
        var isOver = false
        while !isOver {
            let job: UnownedJob?
            (job, isOver) = waitForJob(isLasting: isLasting)
            if let job { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// - Returns: the next job, or whether the thread ends.
    private func waitForJob(isLasting: Bool) -> (job: UnownedJob?, isOver: Bool) {
        state.withLock { $0.idle += 1 }
        let isLate = notifier.wait(timeout: isLasting ? .distantFuture : .now() + .seconds(Self.idleSeconds))
        return state.withLock { state in
            state.idle -= 1
            let job = state.jobs.popFirst()
            let isOver = job == nil && (isLate == .timedOut || state.isOver)
            if isOver { state.threads -= 1 }
            return (job, isOver)
        }
    }
}

/// What a thread is given when it begins.
private final class ThreadStart {
    let queue: JobQueue
    let isLasting: Bool

    init(queue: JobQueue, isLasting: Bool) {
        self.queue = queue
        self.isLasting = isLasting
    }
}
