import Synchronization

/// Puts the writes that come while another one is under way into one database transaction: they share its commit.
///
/// Whoever comes first commits for all that wait by then, and hands the next turn to the first of those that came since.
/// So no task is needed, nobody waits for more than one commit before its own, and one at a time behaves as if there
/// were no groups.
final class GroupedWrites: Sendable {
    /// The most writes in one database transaction, for all of them wait for the whole.
    static let limit = 64

    private struct State {
        var waiting: [any GroupableWrite] = []
        var isUnderWay = false
        /// How many have come so far.
        var arrived = 0
    }

    private let state = Mutex(State())

    /// How many wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// How many have come so far, whatever became of them.
    var arrivedCount: Int { state.withLock(\.arrived) }

    /// What the body gives once it is committed, alone or together with others.
    ///
    /// - Parameter commit: answers every write that it is given. It is never cut off: others wait for it.
    /// - Throws: what the body throws, or why the database transaction failed; then nothing of it was written.
    func value<Value: Sendable>(
        of body: @escaping @Sendable (any StoreWriter) throws -> Value, commit: ([any GroupableWrite]) async -> Void
    ) async throws -> Value {
        let write = GroupedWrite(body)
        let isFirst = state.withLock { state in
            state.waiting.append(write)
            state.arrived += 1
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        let turn = isFirst ? .commit : await write.turn.value()
        if turn == .commit {
            let group = state.withLock { state in
                let group = Array(state.waiting.prefix(Self.limit))
                state.waiting.removeFirst(group.count)
                return group
            }
            await commit(group)
            let next: (any GroupableWrite)? = state.withLock { state in
                state.isUnderWay = !state.waiting.isEmpty
                return state.waiting.first
            }
            next?.turn.call(.commit)
            for other in group where other.turn !== write.turn { other.turn.call(.answered) }
        }
        return try write.value()
    }
}

/// A write that can be one of several in a database transaction.
protocol GroupableWrite: Sendable {
    var turn: WriteTurn { get }
    /// Runs it; what it gives is kept for its caller.
    ///
    /// - Throws: what its body throws.
    func run(in store: any StoreWriter) throws
    /// Nothing of it was written.
    func fail(_ error: any Error)
}

private struct GroupedWrite<Value: Sendable>: GroupableWrite {
    private final class Outcome: Sendable {
        /// Nil before it ran.
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    let turn = WriteTurn()
    private let outcome = Outcome()
    private let body: @Sendable (any StoreWriter) throws -> Value

    init(_ body: @escaping @Sendable (any StoreWriter) throws -> Value) { self.body = body }

    func run(in store: any StoreWriter) throws {
        let value = try body(store)
        outcome.result.withLock { $0 = .success(value) }
    }

    func fail(_ error: any Error) { outcome.result.withLock { $0 = .failure(error) } }

    func value() throws -> Value {
        guard let result = outcome.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}

/// What a write that waits is called for.
final class WriteTurn: Sendable {
    enum Call: Sendable {
        /// To commit, itself and all that wait.
        case commit
        /// Another has committed it, or could not.
        case answered
    }

    private enum State {
        case new
        case waiting(CheckedContinuation<Call, Never>)
        case called(Call)
    }

    private let state = Mutex(State.new)

    func value() async -> Call {
        await withCheckedContinuation { continuation in
            let call: Call? = state.withLock { state in
                if case .called(let call) = state { return call }
                state = .waiting(continuation)
                return nil
            }
            if let call { continuation.resume(returning: call) }
        }
    }

    func call(_ call: Call) {
        let waiting: CheckedContinuation<Call, Never>? = state.withLock { state in
            defer { state = .called(call) }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume(returning: call)
    }
}
