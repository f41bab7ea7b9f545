import Records
import StoreTables
import Synchronization

/// Groups concurrent writes into one database transaction, so that they share its commit.
///
/// The first writer commits all writes that wait at that time. Then it gives the turn to the first write that has come
/// since. So no task is needed, and sequential writes behave as if there were no groups. A write waits only for the
/// commit that is under way, and for the commits of writes that cannot be part of it.
///
/// If several writes shared a commit, the next writer lets other tasks run first, as long as that brings more writes.
/// The reason is that a commit costs more than its content, and the callers of the last commit may be about to write
/// again.
///
/// The three commits of an approval are three fdatasync calls if they run one at a time. With 64 clients they are 0.157
/// calls (`make bench ONLY=clients`).
final class GroupedWrites: Sendable {
    /// Maximum number of writes in one database transaction; each of them waits for all.
    static let limit = 64
    /// Maximum numbers of yields to other tasks before a commit: in all, and in a row without a new write.
    private static let rounds = (most: 64, quiet: 2)

    private struct State {
        var waiting: [GroupedWrite] = []
        /// The number of writes at the front that could not share a transaction and get one each.
        var alone = 0
        var isUnderWay = false
        /// The number of writes so far.
        var arrived = 0
        /// The number of writes in the last commit.
        var shared = 0
    }

    private let state = Mutex(State())

    /// The number of writes that wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The number of writes so far, with any outcome.
    var arrivedCount: Int { state.withLock(\.arrived) }

    /// Runs the body, alone or together with others, and returns its value after the commit.
    ///
    /// - Parameter commit: answers every write that it is given, except the returned ones, which are then committed one
    ///   by one. It is never cancelled, because other writes wait for it.
    /// - Throws: the error of the body or of the database transaction. The body has then written no data.
    func value<Value: Sendable>(
        of body: @escaping @Sendable (StoreTransaction) throws -> Value,
        commit: ([GroupedWrite]) async -> [GroupedWrite]
    ) async throws -> Value {
        let result = Kept<Result<Value, any Error>>()
        let write = GroupedWrite(
            run: { result.value = .success(try body($0)) }, fail: { result.value = .failure($0) })
        let isFirst = state.withLock { state in
            state.waiting.append(write)
            state.arrived += 1
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        var call = isFirst ? .commit : await write.turn.value()
        while call == .commit {
            await gather()
            let group = nextGroup()
            let left = await commit(group)
            let next: GroupedWrite? = state.withLock { state in
                state.waiting.insert(contentsOf: left, at: 0)
                state.alone += left.count
                state.isUnderWay = !state.waiting.isEmpty
                return state.waiting.first
            }
            next?.turn.call(.commit)
            for other in group where !left.contains(where: { $0.turn === other.turn }) { other.turn.call(.answered) }
            call = await write.turn.value()
        }
        guard let result = result.value else { throw CancellationError() }
        return try result.get()
    }

    /// Yields to other tasks as long as that brings writes, if several writes came for the last commit.
    private func gather() async {
        var quiet = 0
        for _ in 0..<Self.rounds.most {
            let arrived: Int? = state.withLock { state in
                guard max(state.shared, state.waiting.count) > 1, state.waiting.count < Self.limit else { return nil }
                return state.arrived
            }
            guard let arrived else { return }
            await Task.yield()
            quiet = arrivedCount > arrived ? 0 : quiet + 1
            guard quiet < Self.rounds.quiet else { return }
        }
    }

    private func nextGroup() -> [GroupedWrite] {
        state.withLock { state in
            let group = Array(state.waiting.prefix(state.alone > 0 ? 1 : Self.limit))
            state.waiting.removeFirst(group.count)
            state.alone = max(0, state.alone - 1)
            state.shared = group.count
            return group
        }
    }
}

/// A write that can share a database transaction with others.
struct GroupedWrite: Sendable {
    let turn = WriteTurn()
    /// A closure that runs the write, and keeps the result for the caller.
    ///
    /// - Throws: the body's error.
    let run: @Sendable (StoreTransaction) throws -> Void
    /// A closure that reports to the caller that no data was written.
    let fail: @Sendable (any Error) -> Void
}

/// The turn of a waiting write.
final class WriteTurn: Sendable {
    enum Call: Sendable {
        /// A call to commit this write and all that wait.
        case commit
        /// The outcome is known: another caller has committed the write, or failed to.
        case answered
    }

    private enum State {
        case new
        case waiting(CheckedContinuation<Call, Never>)
        case called(Call)
    }

    private let state = Mutex(State.new)

    /// Waits for the next call.
    func value() async -> Call {
        if let call = next() { return call }
        return await withCheckedContinuation { continuation in
            let call: Call? = state.withLock { state in
                if case .called(let call) = state {
                    state = .new
                    return call
                }
                state = .waiting(continuation)
                return nil
            }
            if let call { continuation.resume(returning: call) }
        }
    }

    func call(_ call: Call) {
        let waiting: CheckedContinuation<Call, Never>? = state.withLock { state in
            guard case .waiting(let continuation) = state else {
                state = .called(call)
                return nil
            }
            state = .new
            return continuation
        }
        waiting?.resume(returning: call)
    }

    private func next() -> Call? {
        state.withLock { state in
            guard case .called(let call) = state else { return nil }
            state = .new
            return call
        }
    }
}
