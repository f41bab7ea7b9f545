import Journal
package import Records
import StoreTables
import Synchronization

/// How the store is: its last trouble, until something could be written again.
package final class StoreHealth: Sendable {
    private let state = Mutex<StoreError?>(nil)
    private let hub = EventHub()

    /// What is wrong with the store at the moment; nil if nothing is known to be.
    package var trouble: StoreError? { state.withLock(\.self) }

    /// Refuses what is new while the disk is full: what room is left is for decisions that are already pending.
    func expectRoom() throws(StoreError) {
        if let trouble, trouble.kind == .full { throw trouble }
    }

    /// A damaged store stays so until the agent is started anew.
    func note(_ trouble: StoreError) {
        let isNews = state.withLock { state in
            guard state?.isForGood != true, state != trouble else { return false }
            state = trouble
            return true
        }
        if isNews { hub.publish(.storeHealthChanged) }
    }

    /// Something was written.
    func noteWritten() {
        let isNews = state.withLock { state in
            guard let trouble = state, !trouble.isForGood else { return false }
            state = nil
            return true
        }
        if isNews { hub.publish(.storeHealthChanged) }
    }

    /// Rings when a trouble has come, changed or gone.
    func changes() -> EventNotifier { hub.notifier { _ in true } }

    /// Returns once there is no trouble; throws if the task is cancelled first.
    ///
    /// It needs no periodic look: what it waits for is in memory, and rings in the same process under the same lock.
    func untilWell() async throws(CancellationError) {
        let changes = changes()
        if trouble == nil { return }
        for await _ in changes where trouble == nil { return }
        throw CancellationError()
    }
}

/// The store, watched: what goes wrong with it is noted, a damaged one takes nothing more, and a full one nothing new.
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

    /// Writes, and once more in the room of the reserve if the disk is full.
    ///
    /// The trouble is noted before the second try, in which what is new refuses itself.
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
            health.note(trouble)
            throw trouble
        }
    }
}

extension Ports {
    /// Works, and if the store is in trouble waits and works again, as often as it takes.
    ///
    /// For what nobody waits for. A loop that does all with the store this way neither ends nor spins nor forgets.
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
