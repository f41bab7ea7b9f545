import Records
import StoreTables
import Synchronization

/// Puts the writes that come while another one is under way into one database transaction: they share its commit.
///
/// Whoever comes first commits for all that wait by then, and hands the next turn to the first of those that came since.
/// So no task is needed, and one at a time behaves as if there were no groups. Nobody waits for more than the commit that is
/// under way, and those of writes that could not be part of it.
///
/// If several have shared a commit, whoever makes the next one lets other tasks run first, as long as that brings more: a
/// commit costs more than what is in it, and those who shared the last one may be about to write again.
///
/// With 64 clients the three commits of an approval, which are three fdatasync one at a time, take 0.157
/// (`make bench ONLY=clients`).
final class GroupedWrites: Sendable {
    /// The most writes in one database transaction, for all of them wait for the whole.
    static let limit = 64
    /// How often others are let run before a commit, and how often in a row if that brings no write.
    private static let rounds = (most: 64, quiet: 2)

    private struct State {
        var waiting: [GroupedWrite] = []
        /// How many at the front have a database transaction each: they could not be part of one.
        var alone = 0
        var isUnderWay = false
        /// How many have come so far.
        var arrived = 0
        /// How many shared the last commit.
        var shared = 0
    }

    private let state = Mutex(State())

    /// How many wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// How many have come so far, whatever became of them.
    var arrivedCount: Int { state.withLock(\.arrived) }

    /// What the body gives once it is committed, alone or together with others.
    ///
    /// - Parameter commit: answers every write that it is given, except those it returns, which are then to be committed
    ///   each by itself. It is never cut off: others wait for it.
    /// - Throws: what the body throws, or why the database transaction failed; then nothing of it was written.
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

    /// Lets other tasks run as long as that brings writes, if several came for the last commit.
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

/// A write that can be one of several in a database transaction.
struct GroupedWrite: Sendable {
    let turn = WriteTurn()
    /// Runs it, and keeps what it gives for its caller.
    ///
    /// - Throws: what its body throws.
    let run: @Sendable (StoreTransaction) throws -> Void
    /// Tells its caller that nothing of it was written.
    let fail: @Sendable (any Error) -> Void
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

    /// Waits for the next call.
    func value() async -> Call {
        if let call = take() { return call }
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

    private func take() -> Call? {
        state.withLock { state in
            guard case .called(let call) = state else { return nil }
            state = .new
            return call
        }
    }
}
