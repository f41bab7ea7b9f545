import DequeModule
import Dispatch
import Glibc
package import LinuxProcess
import Synchronization

/// A few threads for tasks that wait in system calls, such as for a disk, and so do not block other tasks.
///
/// One thread exists from the beginning. Others are created when they are needed, and end after a while without work.
/// All end when the last reference to this object is released. A call that runs on them keeps a reference until it
/// returns.
///
/// A call of ``perform(_:)`` from one of these threads takes 0.3 µs of processor time. From another thread it takes 10 to
/// 30 µs for the changes of threads. An approval does so some 13 times, in 3.3 ms (`make bench ONLY=processor`).
package final class OwnThreads: Sendable {
    private let jobs: JobQueue

    /// The executor, for tasks that end within a call of ``perform(_:)``.
    package var executor: any TaskExecutor { jobs }

    /// - Parameters:
    ///   - limit: the most threads, and so the most tasks that wait at a time.
    ///   - niceness: the nice value of the threads (setpriority(2)). A higher one gets less of the processor.
    /// - Throws: `SystemError` if no thread can be created.
    package init(limit: Int, niceness: CInt = 0) throws(SystemError) {
        jobs = JobQueue(limit: limit, niceness: niceness)
        try jobs.startThread(isLasting: true)
    }

    deinit { jobs.close() }

    /// Runs `body`, and all the tasks within it, on these threads; at once if it is called on one of them.
    ///
    /// - Throws: the errors of `body`.
    package func perform<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await withTaskExecutorPreference(jobs, operation: body)
    }
}

/// A queue of jobs, and the threads that run them in order.
private final class JobQueue: TaskExecutor {
    private struct State: Sendable {
        var jobs: Deque<UnownedJob> = []
        /// The number of threads that exist or are about to be created.
        var threads = 1
        /// The number of threads without work.
        var idle = 0
        var isOver = false

        /// Returns whether a thread is missing for the jobs, and counts the thread that the caller then creates.
        mutating func addThread(within limit: Int) -> Bool {
            guard jobs.count > idle, threads < limit, !isOver else { return false }
            threads += 1
            return true
        }
    }

    /// The number of seconds without work after which a thread ends, except one.
    private static let idleSeconds = 10

    private let limit: Int
    private let niceness: CInt
    private let state = Mutex(State())
    /// A semaphore that counts the jobs, and at the end the threads.
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
            // The other threads run the job later.
            state.withLock { $0.threads -= 1 }
        }
    }

    /// Ends the threads once they have run all jobs, and the jobs that those add.
    func close() {
        let threads = state.withLock { state in
            state.isOver = true
            return state.threads
        }
        for _ in 0..<threads { notifier.signal() }
    }

    /// - Parameter isLasting: whether the thread stays without work.
    /// - Throws: `SystemError` if the thread cannot be created.
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
        // On Linux a priority belongs to a thread, so this changes only this one. If the change is forbidden, the
        // priority stays the same.
        if niceness != 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
        var isOver = false
        while !isOver {
            let job: UnownedJob?
            (job, isOver) = waitForJob(isLasting: isLasting)
            if let job { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// - Returns: the next job if there is one, and whether the thread ends.
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

/// The argument of a new thread.
private final class ThreadStart {
    let queue: JobQueue
    let isLasting: Bool

    init(queue: JobQueue, isLasting: Bool) {
        self.queue = queue
        self.isLasting = isLasting
    }
}
