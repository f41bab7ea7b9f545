import Synchronization

/// A queue for a resource that is shared out in units: keys take turns, and each key's tickets keep their order.
///
/// A key that holds its maximum lets the others pass. If the next ticket lacks only room in all, the queue waits for
/// it, so that small tickets never keep a large one waiting for ever.
package final class FairQueue<Key: Hashable & Sendable>: Sendable {
    /// The bounds of a queue.
    package struct Bounds: Sendable {
        /// The units that are held at a time, in all and by one key.
        package var capacity: Int
        package var capacityOfKey: Int
        /// The tickets that wait or hold units, in all and of one key.
        package var tickets = Int.max
        package var ticketsOfKey = Int.max

        package init(
            capacity: Int, capacityOfKey: Int = .max, tickets: Int = .max, ticketsOfKey: Int = .max
        ) {
            self.capacity = max(capacity, 1)
            self.capacityOfKey = max(min(capacityOfKey, capacity), 1)
            self.tickets = tickets
            self.ticketsOfKey = ticketsOfKey
        }
    }

    /// The refusal of a ticket by a full queue.
    package enum FullError: Error, Equatable {
        /// The key already has its maximum of tickets.
        case ofKey
        case ofAll
    }

    /// A place in the queue, and then the units that it gets.
    ///
    /// It leaves the queue when its last reference is released.
    package final class Ticket: Sendable {
        fileprivate let id: Int
        fileprivate let key: Key
        /// The number of units, at most the maximum of one key.
        package let units: Int
        private let queue: FairQueue
        private let turn: TurnMark
        private let hasLeft = Atomic(false)

        /// Whether the turn has come and the units are held.
        package var isTurn: Bool { !hasLeft.load(ordering: .relaxed) && turn.hasCome.load(ordering: .acquiring) }

        fileprivate init(_ queue: FairQueue, key: Key, _ waiter: Waiter) {
            self.queue = queue
            self.key = key
            (id, units, turn) = (waiter.id, waiter.units, waiter.turn)
        }

        deinit { leave() }

        /// Returns the units, or gives up the place in the queue; idempotent.
        ///
        /// `onTurn` may still be called if the turn comes at the same moment.
        package func leave() {
            guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
            queue.remove(self)
        }
    }

    /// A flag that a ticket's turn has come, which can be read without the queue's lock.
    fileprivate final class TurnMark: Sendable {
        let hasCome = Atomic(false)
    }

    fileprivate struct Waiter {
        let id: Int
        let units: Int
        let turn = TurnMark()
        let onTurn: @Sendable () -> Void
    }

    /// The tickets of a key.
    ///
    /// Each operation examines one ticket, even if many wait.
    private struct Share {
        var held = 0
        var tickets = 0
        private var waiting: [Int: Waiter] = [:]
        /// The ids in order, from `start` on; ids of tickets that have left are skipped.
        private var order: [Int] = []
        private var start = 0

        var isWaiting: Bool { !waiting.isEmpty }

        /// The first waiting ticket.
        var first: Waiter? {
            mutating get {
                while start < order.count {
                    if let waiter = waiting[order[start]] { return waiter }
                    start += 1
                }
                (order, start) = ([], 0)
                return nil
            }
        }

        mutating func append(_ waiter: Waiter) {
            if start > order.count / 2 {
                order.removeFirst(start)
                start = 0
            }
            order.append(waiter.id)
            waiting[waiter.id] = waiter
        }

        /// Removes a ticket from the waiting ones.
        ///
        /// - Returns: whether it waited.
        mutating func remove(_ id: Int) -> Bool { waiting.removeValue(forKey: id) != nil }
    }

    private struct State {
        var held = 0
        var tickets = 0
        var lastID = 0
        var shares: [Key: Share] = [:]
        /// The keys with waiting tickets, in the order of their turns.
        var turns: [Key] = []
    }

    private let bounds: Bounds
    private let state = Mutex(State())

    package init(_ bounds: Bounds) { self.bounds = bounds }

    /// The units that are held, and the tickets that wait or hold units.
    package var usage: (held: Int, tickets: Int) { state.withLock { ($0.held, $0.tickets) } }

    /// Returns the units that a key holds, and its tickets that wait or hold units.
    package func usage(of key: Key) -> (held: Int, tickets: Int) {
        state.withLock { ($0.shares[key]?.held ?? 0, $0.shares[key]?.tickets ?? 0) }
    }

    /// Enters the queue.
    ///
    /// - Parameters:
    ///   - units: a number above the key's maximum counts as the maximum.
    ///   - isFavoured: whether this ticket is exempt from the bound on all tickets.
    ///   - onTurn: called once when the turn comes: before this call returns if there is room, otherwise on the thread
    ///     that returned the units. It must return soon, and must not leave the queue itself.
    /// - Throws: ``FullError`` at once if there are too many tickets.
    package func enter(
        _ key: Key, units: Int = 1, isFavoured: Bool = false, onTurn: @escaping @Sendable () -> Void
    ) throws(FullError) -> Ticket {
        let units = max(min(units, bounds.capacityOfKey), 1)
        let (ticket, next) = try state.withLock { state throws(FullError) in
            guard (state.shares[key]?.tickets ?? 0) < bounds.ticketsOfKey else { throw .ofKey }
            guard isFavoured || state.tickets < bounds.tickets else { throw .ofAll }
            state.lastID += 1
            let waiter = Waiter(id: state.lastID, units: units, onTurn: onTurn)
            add(waiter, of: key, to: &state)
            return (Ticket(self, key: key, waiter), serve(&state))
        }
        for waiter in next { waiter.onTurn() }
        return ticket
    }

    private func add(_ waiter: Waiter, of key: Key, to state: inout State) {
        if state.shares[key]?.isWaiting != true { state.turns.append(key) }
        state.tickets += 1
        state.shares[key, default: Share()].tickets += 1
        state.shares[key, default: Share()].append(waiter)
    }

    /// Takes units if there is room at once and no ticket waits for it, or returns `nil`.
    package func enterAtOnce(_ key: Key, units: Int = 1) -> Ticket? {
        guard let ticket = try? enter(key, units: units, onTurn: {}) else { return nil }
        guard ticket.isTurn else {
            ticket.leave()
            return nil
        }
        return ticket
    }

    fileprivate func remove(_ ticket: Ticket) {
        let next = state.withLock { state in
            let key = ticket.key
            if state.shares[key]?.remove(ticket.id) == true {
                if state.shares[key]?.isWaiting == false { state.turns.removeAll { $0 == key } }
            } else {
                state.shares[key]?.held -= ticket.units
                state.held -= ticket.units
                // The key had its turn, so the other keys that wait come before its next turn.
                if state.shares[key]?.held == 0, let index = state.turns.firstIndex(of: key) {
                    state.turns.append(state.turns.remove(at: index))
                }
            }
            state.shares[key]?.tickets -= 1
            state.tickets -= 1
            if state.shares[key]?.tickets == 0 { state.shares[key] = nil }
            return serve(&state)
        }
        for waiter in next { waiter.onTurn() }
    }

    /// Gives units to the tickets whose turn it is, and returns them.
    private func serve(_ state: inout State) -> [Waiter] {
        var served: [Waiter] = []
        var index = 0
        while index < state.turns.count {
            let key = state.turns[index]
            guard let first = state.shares[key]?.first, let held = state.shares[key]?.held else { break }
            guard first.units <= bounds.capacityOfKey - held else {
                index += 1
                continue
            }
            guard first.units <= bounds.capacity - state.held else { break }
            _ = state.shares[key]?.remove(first.id)
            state.shares[key]?.held += first.units
            state.held += first.units
            state.turns.remove(at: index)
            if state.shares[key]?.isWaiting == true { state.turns.append(key) }
            first.turn.hasCome.store(true, ordering: .releasing)
            served.append(first)
        }
        return served
    }
}

extension FairQueue {
    /// Waits for the turn; a caller that is cancelled meanwhile leaves the queue.
    ///
    /// - Returns: the ticket, which holds its units until it leaves.
    /// - Throws: ``FullError`` at once if there are too many tickets, and `CancellationError`.
    package func wait(_ key: Key, units: Int = 1, isFavoured: Bool = false) async throws -> Ticket {
        let turn = Turn()
        let ticket = try enter(key, units: units, isFavoured: isFavoured) { turn.settle(.success(())) }
        do {
            try await withTaskCancellationHandler {
                try await turn.value()
            } onCancel: {
                turn.settle(.failure(CancellationError()))
            }
            return ticket
        } catch {
            ticket.leave()
            throw error
        }
    }

    /// Runs `body` when its turn comes; a caller that is cancelled meanwhile leaves the queue.
    ///
    /// - Throws: ``FullError`` at once if there are too many tickets, `CancellationError`, and the errors of `body`.
    package func inTurn<Value: Sendable>(
        _ key: Key, units: Int = 1, isFavoured: Bool = false, _ body: () async throws -> Value
    ) async throws -> Value {
        let ticket = try await wait(key, units: units, isFavoured: isFavoured)
        defer { ticket.leave() }
        return try await body()
    }
}

/// The first outcome of a wait: the turn comes, or the caller is cancelled.
private final class Turn: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Void, any Error>)
        case settled(Result<Void, any Error>)
    }

    private let state = Mutex(State.open)

    func settle(_ outcome: Result<Void, any Error>) {
        let awaited: CheckedContinuation<Void, any Error>? = state.withLock { state in
            switch state {
            case .open: state = .settled(outcome)
            case .settled: break
            case .awaited(let continuation):
                state = .settled(outcome)
                return continuation
            }
            return nil
        }
        awaited?.resume(with: outcome)
    }

    func value() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let settled: Result<Void, any Error>? = state.withLock { state in
                if case .settled(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let settled { continuation.resume(with: settled) }
        }
    }
}
