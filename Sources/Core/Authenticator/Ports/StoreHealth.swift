import Journal
package import Records
import StoreTables
import Synchronization

/// Health of the store: its last error, until a write succeeds again.
package final class StoreHealth: Sendable {
    private let state = Mutex<StoreError?>(nil)
    private let hub = EventHub()

    /// The store's current error.
    ///
    /// `nil` if none is known.
    package var trouble: StoreError? { state.withLock(\.self) }

    /// Refuses new data while the disk is full: the remaining space is for decisions that are already pending.
    func expectRoom() throws(StoreError) {
        if let trouble, trouble.kind == .full { throw trouble }
    }

    /// Records an error.
    ///
    /// A damaged store stays damaged until the agent restarts.
    func report(_ trouble: StoreError) {
        let isNews = state.withLock { state in
            guard state?.isForGood != true, state != trouble else { return false }
            state = trouble
            return true
        }
        if isNews { hub.publish(.storeHealthChanged) }
    }

    /// Records that a write has succeeded.
    func noteWritten() {
        let isNews = state.withLock { state in
            guard let trouble = state, !trouble.isForGood else { return false }
            state = nil
            return true
        }
        if isNews { hub.publish(.storeHealthChanged) }
    }

    /// Makes a notifier that rings when an error has come, changed or gone.
    func changes() -> EventNotifier { hub.notifier { _ in true } }

    /// Waits until the store has no error, or throws if the task is cancelled first.
    ///
    /// It needs no periodic check: the error is in this process's memory, and its change rings the notifier under the
    /// same lock.
    func untilWell() async throws(CancellationError) {
        let changes = changes()
        if trouble == nil { return }
        for await _ in changes where trouble == nil { return }
        throw CancellationError()
    }
}

/// Store that reports its errors, and refuses writes while it is damaged and new data while its disk is full.
struct WatchedStore: Store {
    let real: any Store
    let health: StoreHealth

    func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try await noting { try await real.read(body) }
    }

    func survey<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try await noting { try await real.survey(body) }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try await withReserve { try await real.write(body) }
    }

    func conclude<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try await withReserve { try await real.conclude(body) }
    }

    func scrub() async throws {
        if let trouble = health.trouble, trouble.isForGood { throw trouble }
        try await noting { try await real.scrub() }
    }

    func emptyLog() async throws -> Bool {
        if let trouble = health.trouble, trouble.isForGood { throw trouble }
        return try await noting { try await real.emptyLog() }
    }

    func giveUpReserve() async -> Bool { await real.giveUpReserve() }

    func keepReserve() async throws { try await noting { try await real.keepReserve() } }

    /// Writes, and tries once more in the space of the reserve if the disk is full.
    ///
    /// The error is reported before the second try, in which ``StoreHealth/expectRoom()`` refuses new data.
    private func withReserve<T>(_ write: () async throws -> T) async throws -> T {
        if let trouble = health.trouble, trouble.isForGood { throw trouble }
        do {
            return try await noting(write)
        } catch let trouble as StoreError where trouble.kind == .full && !trouble.isInDoubt {
            guard await real.giveUpReserve() else { throw trouble }
            return try await noting(write)
        }
    }

    private func noting<T>(_ work: () async throws -> T) async throws -> T {
        do {
            return try await work()
        } catch let trouble as StoreError {
            health.report(trouble)
            throw trouble
        }
    }
}

extension Ports {
    /// Runs the work, and repeats it after each error of the store, once the store has recovered.
    ///
    /// Use it for work that no caller waits for. A loop that does all its work with the store this way neither ends nor
    /// spins nor loses work.
    func patiently<T>(_ work: () async throws -> T) async throws -> T {
        while true {
            do {
                return try await work()
            } catch is StoreError {
                try await storeHealth.untilWell()
            }
        }
    }
}
