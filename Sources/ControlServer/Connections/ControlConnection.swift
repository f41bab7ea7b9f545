import NIOCore
import Synchronization

/// A client's connection: how long it may keep the agent waiting, and whether the client is still there.
final class ControlConnection: Sendable {
    /// The client hung up.
    struct HungUpError: Error {}

    private struct State {
        var deadline: Scheduled<Void>?
        var isClosed = false
        /// Ends when the client hangs up.
        var presence: AsyncStream<Never>.Continuation?
    }

    let id: ConnectionTable.ID
    let caller: Caller
    private let channel: any Channel
    private let places: ConnectionPlaces
    private let patience: TimeAmount
    private let state = Mutex(State())

    init(
        id: ConnectionTable.ID, caller: Caller, channel: any Channel, places: ConnectionPlaces, patience: TimeAmount
    ) {
        self.id = id
        self.caller = caller
        self.channel = channel
        self.places = places
        self.patience = patience
    }

    var peer: ConnectionTable.Peer { caller.peer }

    /// Begins the first wait, and learns of the end.
    func begin() {
        channel.closeFuture.whenComplete { _ in self.end() }
        waitForClient()
    }

    /// The client has to say something now, or to read an answer of so many bytes; one that takes too long is cut.
    func waitForClient(unread bytes: Int = 0) {
        places.wait(for: self, bytes: bytes)
        let next = channel.eventLoop.scheduleTask(in: patience) { self.close() }
        replaceDeadline(by: next)
    }

    /// The client has said all: it is the agent's turn, which may last.
    func work() {
        places.work(for: self)
        replaceDeadline(by: nil)
    }

    /// Does what is of no use to a client that is gone: then it is cancelled.
    ///
    /// - Throws: ``HungUpError``, and what `body` throws.
    func whileThere<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (presence, continuation) = AsyncStream.makeStream(of: Never.self)
        let isClosed = state.withLock { state in
            state.presence = continuation
            return state.isClosed
        }
        if isClosed { throw HungUpError() }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask {
                for await _ in presence {}
                throw HungUpError()
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw HungUpError() }
            return value
        }
    }

    /// Does what its client's hanging up is told as soon as it happens, and what goes on to its own end.
    ///
    /// - Throws: ``HungUpError`` if the client was gone before, and what `body` throws.
    func telling<Value: Sendable>(
        _ hungUp: @escaping @Sendable () -> Void, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let (presence, continuation) = AsyncStream.makeStream(of: Never.self)
        let isClosed = state.withLock { state in
            state.presence = continuation
            return state.isClosed
        }
        if isClosed { throw HungUpError() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                for await _ in presence {}
                // It ends also if `body` does.
                if !Task.isCancelled { hungUp() }
                return nil
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw HungUpError()
        }
    }

    func close() { channel.close(promise: nil) }

    private func replaceDeadline(by next: Scheduled<Void>?) {
        let outdated = state.withLock { state in
            if state.isClosed { return next }
            defer { state.deadline = next }
            return state.deadline
        }
        outdated?.cancel()
    }

    private func end() {
        let (deadline, presence) = state.withLock { state in
            state.isClosed = true
            defer { (state.deadline, state.presence) = (nil, nil) }
            return (state.deadline, state.presence)
        }
        deadline?.cancel()
        presence?.finish()
        places.leave(self)
    }
}
