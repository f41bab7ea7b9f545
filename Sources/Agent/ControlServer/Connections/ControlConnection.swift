import HTTPServing
import NIOCore
import NIOHTTPTypes
import Records
import Synchronization

/// A client's connection: how long it may keep the agent waiting, and whether the client is still there.
final class ControlConnection: Sendable {
    /// The client hung up.
    struct HungUpError: Error {}

    private struct State {
        var isClosed = false
        var onHangUp: (@Sendable () -> Void)?
    }

    let caller: Caller
    fileprivate let channel: any Channel
    private let places: ControlPlaces
    private let place: ControlPlaces.ID
    /// Until when the client has to say something, or to read an answer.
    private let deadline: ClientDeadline
    private let state = Mutex(State())

    /// - Parameters:
    ///   - place: of those places.
    ///   - patience: how long a client may take to say something, or to read an answer.
    init(
        _ place: ControlPlaces.ID, of places: ControlPlaces, caller: Caller, channel: any Channel, patience: TimeAmount
    ) {
        self.place = place
        self.caller = caller
        self.channel = channel
        self.places = places
        deadline = ClientDeadline(on: channel.eventLoop, after: patience) { channel.close(promise: nil) }
    }

    var peer: Caller.Peer { caller.peer }

    /// Begins the first wait, and learns of the end.
    func begin() {
        channel.closeFuture.whenComplete { _ in self.end() }
        waitForClient()
    }

    /// The client has to say something now, or to read an answer of so many bytes; one that takes too long is cut.
    func waitForClient(unread bytes: Int = 0) {
        places.waits(place, unread: bytes)
        deadline.renew()
    }

    /// The client has said all: it is the agent's turn, which may last.
    func work() {
        places.beginsAnswer(to: place)
        deadline.callOff()
    }

    /// Closes the connection, whatever is under way.
    func cut() { channel.close(promise: nil) }

    /// Does what is of no use to a client that is gone: then it is cancelled.
    ///
    /// - Throws: ``HungUpError``, and what `body` throws.
    func whileThere<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        do {
            return try await cuttable(body) { cut in
                if !tell(hangUp: cut) { cut() }
                return { self.tellNobody() }
            }
        } catch is CancellationError where state.withLock(\.isClosed) {
            throw HungUpError()
        }
    }

    /// Does what its client's hanging up is told as soon as it happens, and what goes on to its own end.
    ///
    /// - Parameter hungUp: short.
    /// - Throws: ``HungUpError`` if the client was gone before, and what `body` throws.
    func telling<Value: Sendable>(
        _ hungUp: @escaping @Sendable () -> Void, _ body: () async throws -> Value
    ) async throws -> Value {
        guard tell(hangUp: hungUp) else { throw HungUpError() }
        defer { tellNobody() }
        return try await body()
    }

    /// - Returns: false if the client was gone before.
    private func tell(hangUp: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.onHangUp = hangUp
            return true
        }
    }

    private func tellNobody() { state.withLock { $0.onHangUp = nil } }

    private func end() {
        let onHangUp = state.withLock { state in
            state.isClosed = true
            defer { state.onHangUp = nil }
            return state.onHangUp
        }
        deadline.end()
        onHangUp?()
        places.leave(place)
    }
}

extension ControlConnection: EventReader.Client {
    var loop: any EventLoop { channel.eventLoop }

    var takesMore: Bool { channel.isWritable }

    func send(_ part: ByteBuffer) { channel.writeAndFlush(HTTPResponsePart.body(part), promise: nil) }
}
