import Synchronization

/// The tasks that calls run in: the only place of this library that starts any.
///
/// A completion handler is called outside of every task of the app's, so something has to start one. None is left
/// behind: ``end()`` waits for each.
final class Tasks: Sendable {
    private struct Running {
        /// Whether it is only waited for.
        let isShielded: Bool
        let cancel: @Sendable () -> Void
        let finish: @Sendable () async -> Void
    }

    private struct State {
        var last = 0
        private(set) var running: [Int: Running] = [:]
        /// Those that were over before they were remembered.
        private var over: Set<Int> = []

        mutating func remember(_ one: Running, as id: Int) {
            if over.remove(id) == nil { running[id] = one }
        }

        mutating func forget(_ id: Int) {
            if running.removeValue(forKey: id) == nil { over.insert(id) }
        }
    }

    private let state = Mutex(State())

    /// Starts work.
    ///
    /// - Parameter isShielded: it goes on to its end whoever is cancelled, as what is being decided must.
    @discardableResult
    func start<Value: Sendable>(
        isShielded: Bool = false, _ work: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        let task = Task { [self] in
            let value = await work()
            state.withLock { $0.forget(id) }
            return value
        }
        let running = Running(isShielded: isShielded, cancel: { task.cancel() }, finish: { _ = await task.value })
        state.withLock { $0.remember(running, as: id) }
        return task
    }

    /// Runs work, and hands the caller's cancellation on to it.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let task = start(work)
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Runs work to its end.
    func shield<Success: Sendable>(_ work: @escaping @Sendable () async throws -> Success) async throws -> Success {
        let task = start(isShielded: true) { () async -> Result<Success, any Error> in
            do { return .success(try await work()) } catch { return .failure(error) }
        }
        return try await task.value.get()
    }

    func cancel() {
        let running = state.withLock { Array($0.running.values) }
        for one in running where !one.isShielded { one.cancel() }
    }

    /// Cancels what may be cancelled, and waits for all.
    func end() async {
        cancel()
        for one in state.withLock({ Array($0.running.values) }) { await one.finish() }
    }
}
