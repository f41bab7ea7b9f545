internal import AsyncHTTPClient
internal import FairSharing
internal import IssuerProtocol
internal import NIOCore
internal import NIOHTTP1
import Records
import Synchronization

/// Reads an answer on the event loop of its connection, up to the call's limit and while there is room.
///
/// The whole answer wakes the caller's task once, in place of once for each part. While the answer waits for room, no
/// bytes are read from the connection.
final class AnswerReader: HTTPClientResponseDelegate {
    /// The answer is a redirect; its body is not read.
    struct RedirectError: Error {}
    /// The answer waited too long for other answers to free room.
    struct NoRoomError: Error {}

    /// The received part of the answer.
    struct Received: Sendable {
        var head = HTTPResponseHead(version: .http1_1, status: .ok)
        var body: [UInt8] = []
        /// The body's reservation in the room, or `nil` if the body needs none.
        var ticket: AnswerRoom.Ticket?
    }

    private struct State {
        var received = Received()
        var pace = Pace()
        /// The part that waits for room.
        var waiting: (part: ByteBuffer, promise: EventLoopPromise<Void>)?
        /// The call has failed: later parts are dropped.
        var isOver = false

        /// The bytes to reserve: the head's `Content-Length` or else `maxBytes`, and at least `size`.
        func units(atLeast size: Int, atMost maxBytes: Int) -> Int {
            let announced = received.head.headers.first(name: "content-length").flatMap { Int($0) } ?? maxBytes
            return min(max(announced, size), maxBytes)
        }
    }

    private let issuer: IssuerURL
    private let queue: AnswerRoom.Queue
    private let maxBytes: Int
    private let clock: any AgentClock
    private let onPace: @Sendable (AnswerReader) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maxBytes: the limit for the body.
    ///   - onPace: called when the body begins, waits for room or continues, which changes ``secondsLeft``.
    init(
        _ issuer: IssuerURL, in queue: AnswerRoom.Queue, maxBytes: Int, clock: any AgentClock,
        onPace: @escaping @Sendable (AnswerReader) -> Void
    ) {
        self.issuer = issuer
        self.queue = queue
        self.maxBytes = maxBytes
        self.clock = clock
        self.onPace = onPace
    }

    /// The last head that was received, or before that a head without fields.
    var head: HTTPResponseHead { state.withLock(\.received.head) }

    /// The seconds until the deadline of the body, or `nil` before the body has begun.
    var secondsLeft: Double? {
        let now = clock.steady
        return state.withLock { $0.pace.secondsLeft(at: now, bytes: $0.received.body.count) }
    }

    /// Whether this answer waits for room.
    var isWaiting: Bool { state.withLock { $0.waiting != nil } }

    func didReceiveHead(task: HTTPClient.Task<Received>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let loop = task.eventLoop
        state.withLock { $0.received.head = head }
        guard HeadGuard.fits(head.headers) else { return loop.makeFailedFuture(HeadGuard.TooLargeError()) }
        guard !(300..<400).contains(head.status.code) else { return loop.makeFailedFuture(RedirectError()) }
        let announced = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        guard announced <= maxBytes else { return loop.makeFailedFuture(NIOTooManyBytesError(maxBytes: maxBytes)) }
        return loop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Received>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let loop = task.eventLoop
        let now = clock.steady
        enum Outcome { case taken(isFirst: Bool), tooLarge, waits(EventLoopFuture<Void>, units: Int) }
        let outcome: Outcome = state.withLock { state in
            guard part.readableBytes <= maxBytes - state.received.body.count else { return .tooLarge }
            let isFirst = state.pace.begin(at: now)
            let size = state.received.body.count + part.readableBytes
            guard size > AnswerRoom.free, state.received.ticket == nil else {
                state.received.body += part.readableBytesView
                return .taken(isFirst: isFirst)
            }
            let promise = loop.makePromise(of: Void.self)
            state.waiting = (part, promise)
            state.pace.wait(at: now)
            return .waits(promise.futureResult, units: state.units(atLeast: size, atMost: maxBytes))
        }
        switch outcome {
        case .tooLarge:
            return loop.makeFailedFuture(NIOTooManyBytesError(maxBytes: maxBytes))
        case .taken(let isFirst):
            if isFirst { onPace(self) }
            return loop.makeSucceededVoidFuture()
        case .waits(let future, let units):
            // With these bounds the queue refuses no entry.
            let ticket = try? queue.enter(issuer, units: units) { [weak self] in
                guard let self else { return }
                loop.execute { self.goOn(units) }
            }
            state.withLock { state in
                if !state.isOver { state.received.ticket = ticket }
            }
            onPace(self)
            return future
        }
    }

    /// Reads the part that waited for room.
    private func goOn(_ units: Int) {
        let now = clock.steady
        let promise = state.withLock { state in
            guard let (part, promise) = state.waiting else { return nil as EventLoopPromise<Void>? }
            state.waiting = nil
            state.pace.goOn(at: now)
            // The array never grows: that would need twice the room.
            state.received.body.reserveCapacity(units)
            state.received.body += part.readableBytesView
            return promise
        }
        guard let promise else { return }
        onPace(self)
        promise.succeed()
    }

    /// Gives up: stops waiting for room, and frees the body and its reservation.
    func giveUp() {
        // The ticket leaves after the unlock, because leaving calls the next reader in the queue.
        let (waiting, ticket) = state.withLock { state in
            state.isOver = true
            state.received.body = []
            defer { (state.waiting, state.received.ticket) = (nil, nil) }
            return (state.waiting, state.received.ticket)
        }
        ticket?.leave()
        waiting?.promise.fail(NoRoomError())
    }

    /// Returns the whole answer, which then belongs to the caller.
    func didFinishRequest(task: HTTPClient.Task<Received>) -> Received {
        state.withLock { state in
            defer { state.received = Received(head: state.received.head) }
            return state.received
        }
    }
}

extension AnswerReader {
    /// The limit for the rest of a body that has begun: 5 s, and another second for each 64 KiB received.
    ///
    /// The time of waiting for room does not count, but has a limit of its own.
    struct Pace: Sendable {
        static let seconds: Double = 5
        static let bytesPerSecond: Double = 65_536
        /// The most seconds that a body waits for room: less than a call's limit, and than others wait for its place.
        static let patience: Double = 20

        /// The start of the body on the steady clock, plus the time of waiting for room.
        private var begun: Double?
        private var waitingSince: Double?

        /// Starts the body if it has not begun, and returns whether it begins now.
        mutating func begin(at now: Double) -> Bool {
            guard begun == nil else { return false }
            begun = now
            return true
        }

        mutating func wait(at now: Double) { waitingSince = now }

        mutating func goOn(at now: Double) {
            if let begun, let waitingSince { self.begun = begun + (now - waitingSince) }
            waitingSince = nil
        }

        func secondsLeft(at now: Double, bytes: Int) -> Double? {
            guard let begun else { return nil }
            if let waitingSince { return waitingSince + Self.patience - now }
            return begun + Self.seconds + Double(bytes) / Self.bytesPerSecond - now
        }
    }
}
