import DequeModule
import Dispatch
import Glibc
import Synchronization

/// A few threads for tasks that wait in system calls, such as for a disk: they hold up nobody else's tasks.
///
/// One is there from the beginning on; others come when they are needed, and end when they have had nothing to do for a
/// while. All end when nobody has this any more; whoever runs something on them has it until that returns.
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

    /// To be called on one of these threads before what may wait long, such as for a disk: another one then does what
    /// would be done on this one next.
    ///
    /// Elsewhere it does nothing.
    package func willWait() { jobs.handOver() }

    /// Runs `body`, and all the tasks within it, on these threads; at once if it is called on one of them.
    ///
    /// - Throws: what `body` throws.
    package func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await withTaskExecutorPreference(jobs, operation: body)
    }
}

/// Jobs, and the threads that do them in the order in which they came.
///
/// To wake a thread up costs more than most jobs do. So a job that comes from one of these threads is kept for that one,
/// which takes another when its own is over, and nobody is woken up. Each keeps a few: for more, others are.
private final class JobQueue: TaskExecutor {
    private struct Worker: Sendable {
        let thread: pthread_t
        /// The number of jobs of the queue that it takes next, of which no other was told.
        var kept = 0
    }

    private struct State: Sendable {
        var jobs: Deque<UnownedJob> = []
        /// Those that are there or about to be.
        var threads = 1
        /// The threads that are there.
        var workers: [Worker] = []
        /// The number of threads that have nothing to do.
        var idle = 0
        var isOver = false

        /// Whether there is a thread too few for the jobs; then it is about to be there.
        mutating func addThread(within limit: Int) -> Bool {
            let kept = workers.reduce(0) { $0 + $1.kept }
            guard jobs.count - kept > idle, threads < limit, !isOver else { return false }
            threads += 1
            return true
        }

        /// The place of the calling thread, if it is one of them.
        var placeOfCaller: Int? {
            let thread = pthread_self()
            return workers.firstIndex { $0.thread == thread }
        }
    }

    /// After so many seconds without work a thread ends, except one.
    private static let idleSeconds = 10
    /// The most jobs that one thread keeps.
    private static let mostKept = 3

    private let limit: Int
    private let niceness: CInt
    private let state = Mutex(State())
    /// Counts the jobs that nobody keeps, and at the end the threads.
    private let notifier = DispatchSemaphore(value: 0)

    init(limit: Int, niceness: CInt) {
        self.limit = limit
        self.niceness = niceness
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isThreadMissing: Bool? = state.withLock { state in
            state.jobs.append(job)
            if let place = state.placeOfCaller, state.workers[place].kept < Self.mostKept {
                state.workers[place].kept += 1
                return nil
            }
            return state.addThread(within: limit)
        }
        if let isThreadMissing { tell(isThreadMissing) }
    }

    /// Has other threads do what the calling one keeps.
    func handOver() {
        let areThreadsMissing: [Bool] = state.withLock { state in
            guard let place = state.placeOfCaller else { return [] }
            return (0..<state.workers[place].kept).map { _ in
                state.workers[place].kept -= 1
                return state.addThread(within: limit)
            }
        }
        areThreadsMissing.forEach(tell)
    }

    /// Wakes a thread up for a job, and starts one if there are too few.
    private func tell(_ isThreadMissing: Bool) {
        notifier.signal()
        guard isThreadMissing else { return }
        do {
            try startThread(isLasting: false)
        } catch {
            // The others do it, later.
            state.withLock { $0.threads -= 1 }
        }
    }

    /// No more jobs come; the threads end once they have done those that are there.
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
        state.withLock { $0.workers.append(Worker(thread: pthread_self())) }
        var isOver = false
        while !isOver {
            let job: UnownedJob?
            (job, isOver) = keptJob().map { ($0, false) } ?? waitForJob(isLasting: isLasting)
            if let job { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// Returns the job that the calling thread takes next without having to wait; `nil` if it keeps none.
    private func keptJob() -> UnownedJob? {
        state.withLock { state in
            if let place = state.placeOfCaller, state.workers[place].kept > 0 {
                state.workers[place].kept -= 1
                if let job = state.jobs.popFirst() { return job }
                state.workers[place].kept = 0
            }
            state.idle += 1
            return nil
        }
    }

    /// - Returns: the next job, and whether the thread ends after it.
    private func waitForJob(isLasting: Bool) -> (job: UnownedJob?, isOver: Bool) {
        let isLate = notifier.wait(timeout: isLasting ? .distantFuture : .now() + .seconds(Self.idleSeconds))
        return state.withLock { state in
            state.idle -= 1
            let job = state.jobs.popFirst()
            let isOver = job == nil && isLate == .timedOut || state.isOver && state.jobs.isEmpty
            if isOver {
                let thread = pthread_self()
                state.workers.removeAll { $0.thread == thread }
                state.threads -= 1
            }
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
