import HTTPServing
import NIOCore
import NIOHTTPTypes
import Records
import Synchronization

/// A client's connection: the limits for its reads and writes, and whether the client is still connected.
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
    /// The deadline for the client to send a request, or to read an answer.
    private let deadline: ClientDeadline
    private let state = Mutex(State())

    /// - Parameters:
    ///   - place: the connection's place in `places`.
    ///   - patience: the limit for a client to send a request, or to read an answer.
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

    /// Starts the first deadline, and watches for the end of the connection.
    func begin() {
        channel.closeFuture.whenComplete { _ in self.close() }
        waitForClient()
    }

    /// Renews the deadline for the client to send a request or to read `bytes`; a late client is cut.
    func waitForClient(unread bytes: Int = 0) {
        places.waits(place, unread: bytes)
        deadline.renew()
    }

    /// Stops the deadline: the request is complete, and the agent may take long.
    func work() {
        places.beginsAnswer(to: place)
        deadline.callOff()
    }

    /// Closes the connection, also during a call.
    func cut() { channel.close(promise: nil) }

    /// Runs work that is of no use without a client: a hang-up cancels it.
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

    /// Runs work to its end, and calls `hungUp` as soon as the client hangs up.
    ///
    /// - Parameter hungUp: must return soon.
    /// - Throws: ``HungUpError`` if the client hung up before, and what `body` throws.
    func telling<Value: Sendable>(
        _ hungUp: @escaping @Sendable () -> Void, _ body: () async throws -> Value
    ) async throws -> Value {
        guard tell(hangUp: hungUp) else { throw HungUpError() }
        defer { tellNobody() }
        return try await body()
    }

    /// - Returns: `false` if the client hung up before.
    private func tell(hangUp: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.onHangUp = hangUp
            return true
        }
    }

    private func tellNobody() { state.withLock { $0.onHangUp = nil } }

    private func close() {
        let onHangUp = state.withLock { state in
            state.isClosed = true
            defer { state.onHangUp = nil }
            return state.onHangUp
        }
        deadline.cancel()
        onHangUp?()
        places.leave(place)
    }
}

extension ControlConnection: EventReader.Client {
    var loop: any EventLoop { channel.eventLoop }

    var takesMore: Bool { channel.isWritable }

    func send(_ part: ByteBuffer) { channel.writeAndFlush(HTTPResponsePart.body(part), promise: nil) }
}
