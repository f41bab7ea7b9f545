import Synchronization

/// A queue for something that is shared out in units: keys take turns, and each key's own wait in order.
///
/// A key that holds as much as it may lets the others pass. The next in turn that only lacks room in all is waited for,
/// so that small pieces never keep a large one waiting for ever.
package final class FairQueue<Key: Hashable & Sendable>: Sendable {
    /// The bounds of a queue.
    package struct Bounds: Sendable {
        /// Units that are held at a time, in all and by one key.
        package var capacity: Int
        package var capacityOfKey: Int
        /// Tickets that wait or hold, in all and of one key.
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

    /// The refusal of one more ticket.
    package enum FullError: Error, Equatable {
        /// The key has as many as it may.
        case ofKey
        case ofAll
    }

    /// A place in the queue, and then a hold of units.
    ///
    /// It leaves by itself once nobody keeps it.
    package final class Ticket: Sendable {
        fileprivate let id: Int
        fileprivate let key: Key
        /// At most what the key may hold.
        package let units: Int
        private let queue: FairQueue
        private let hasLeft = Atomic(false)

        /// Whether the turn has come, and the units are held.
        package var isTurn: Bool { !hasLeft.load(ordering: .relaxed) && !queue.isWaiting(self) }

        fileprivate init(_ queue: FairQueue, id: Int, key: Key, units: Int) {
            self.queue = queue
            self.id = id
            self.key = key
            self.units = units
        }

        deinit { leave() }

        /// Gives the units back, or the place in the queue; idempotent.
        ///
        /// `onTurn` may still be called if the turn comes just now.
        package func leave() {
            guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
            queue.remove(self)
        }
    }

    private struct Waiter {
        let id: Int
        let units: Int
        let onTurn: @Sendable () -> Void
    }

    private struct Share {
        var held = 0
        var tickets = 0
        var waiting: [Waiter] = []
    }

    private struct State {
        var held = 0
        var tickets = 0
        var lastID = 0
        var shares: [Key: Share] = [:]
        /// The keys that wait, in the order of their turns.
        var turns: [Key] = []
    }

    private let bounds: Bounds
    private let state = Mutex(State())

    package init(_ bounds: Bounds) { self.bounds = bounds }

    /// Units that are held, and tickets that wait or hold.
    package var usage: (held: Int, tickets: Int) { state.withLock { ($0.held, $0.tickets) } }

    /// Units that a key holds, and its tickets that wait or hold.
    package func usage(of key: Key) -> (held: Int, tickets: Int) {
        state.withLock { ($0.shares[key]?.held ?? 0, $0.shares[key]?.tickets ?? 0) }
    }

    /// Takes a place in the queue.
    ///
    /// - Parameters:
    ///   - units: more than the key may hold count as that.
    ///   - isFavoured: whether the bound on the tickets of all does not hold for this one.
    ///   - onTurn: called once with the turn, before this returns if there is room, and otherwise on the thread of
    ///     whoever gave the room back. It must return soon, and must not leave the queue itself.
    /// - Throws: ``FullError`` at once if there are too many tickets.
    package func enter(
        _ key: Key, units: Int = 1, isFavoured: Bool = false, onTurn: @escaping @Sendable () -> Void
    ) throws(FullError) -> Ticket {
        let units = max(min(units, bounds.capacityOfKey), 1)
        let (ticket, next) = try state.withLock { state throws(FullError) in
            var share = state.shares[key] ?? Share()
            guard share.tickets < bounds.ticketsOfKey else { throw .ofKey }
            guard isFavoured || state.tickets < bounds.tickets else { throw .ofAll }
            state.lastID += 1
            state.tickets += 1
            share.tickets += 1
            if share.waiting.isEmpty { state.turns.append(key) }
            share.waiting.append(Waiter(id: state.lastID, units: units, onTurn: onTurn))
            state.shares[key] = share
            return (Ticket(self, id: state.lastID, key: key, units: units), serve(&state))
        }
        for waiter in next { waiter.onTurn() }
        return ticket
    }

    /// Takes units if there is room at once and nobody waits for it; `nil` if there is not.
    package func enterAtOnce(_ key: Key, units: Int = 1) -> Ticket? {
        guard let ticket = try? enter(key, units: units, onTurn: {}) else { return nil }
        guard ticket.isTurn else {
            ticket.leave()
            return nil
        }
        return ticket
    }

    fileprivate func isWaiting(_ ticket: Ticket) -> Bool {
        state.withLock { $0.shares[ticket.key]?.waiting.contains { $0.id == ticket.id } ?? false }
    }

    fileprivate func remove(_ ticket: Ticket) {
        let next = state.withLock { state in
            guard var share = state.shares[ticket.key] else { return [Waiter]() }
            if let index = share.waiting.firstIndex(where: { $0.id == ticket.id }) {
                share.waiting.remove(at: index)
                if share.waiting.isEmpty { state.turns.removeAll { $0 == ticket.key } }
            } else {
                share.held -= ticket.units
                state.held -= ticket.units
                // It had its turn: those that wait as well come before its next.
                if share.held == 0, let index = state.turns.firstIndex(of: ticket.key) {
                    state.turns.append(state.turns.remove(at: index))
                }
            }
            share.tickets -= 1
            state.tickets -= 1
            state.shares[ticket.key] = share.tickets > 0 ? share : nil
            return serve(&state)
        }
        for waiter in next { waiter.onTurn() }
    }

    /// Gives room to those whose turn it is.
    private func serve(_ state: inout State) -> [Waiter] {
        var served: [Waiter] = []
        var index = 0
        while index < state.turns.count {
            let key = state.turns[index]
            guard var share = state.shares[key], let first = share.waiting.first else { break }
            guard first.units <= bounds.capacityOfKey - share.held else {
                index += 1
                continue
            }
            guard first.units <= bounds.capacity - state.held else { break }
            share.waiting.removeFirst()
            share.held += first.units
            state.held += first.units
            state.turns.remove(at: index)
            if !share.waiting.isEmpty { state.turns.append(key) }
            state.shares[key] = share
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

    /// Does `body` when its turn comes; a caller that is cancelled meanwhile leaves the queue.
    ///
    /// - Throws: ``FullError`` at once if there are too many tickets, `CancellationError`, and what `body` throws.
    package func run<Value: Sendable>(
        _ key: Key, units: Int = 1, isFavoured: Bool = false, _ body: () async throws -> Value
    ) async throws -> Value {
        let ticket = try await wait(key, units: units, isFavoured: isFavoured)
        defer { ticket.leave() }
        return try await body()
    }
}

/// A turn that comes, or is called off, whichever is first.
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
