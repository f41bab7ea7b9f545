internal import AsyncHTTPClient
internal import FairSharing
internal import IssuerProtocol
internal import NIOCore
internal import NIOHTTP1
import Records
import Synchronization

/// Takes in an answer on the event loop of its connection, up to the bound of the call and as far as there is room.
///
/// So the caller's task is woken up once, by the whole answer, and not by each piece of it. While it waits for room,
/// nothing is read from the connection.
final class AnswerReader: HTTPClientResponseDelegate {
    /// The answer is a redirect: nobody reads what is beside it.
    struct RedirectError: Error {}
    /// The answer had to wait too long until others were done with.
    struct NoRoomError: Error {}

    /// The answer as far as it came.
    struct Received: Sendable {
        var head = HTTPResponseHead(version: .http1_1, status: .ok)
        var body: [UInt8] = []
        /// The room that the body takes; `nil` if it is free.
        var ticket: AnswerRoom.Ticket?
    }

    private struct State {
        var received = Received()
        var pace = Pace()
        /// The part that waits for room.
        var waiting: (part: ByteBuffer, promise: EventLoopPromise<Void>)?
        /// The call has failed: nothing is taken in any more.
        var isOver = false

        /// The room that the body takes at most, as its head says; no less than it has already.
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
    ///   - maxBytes: the most that a body may have.
    ///   - onPace: called when the body begins, waits for room or goes on, which changes ``secondsLeft``.
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

    /// As it was received last; before that, one without fields.
    var head: HTTPResponseHead { state.withLock(\.received.head) }

    /// The seconds after which the call is over; `nil` before the body has begun.
    var secondsLeft: Double? {
        let now = clock.steady
        return state.withLock { $0.pace.secondsLeft(at: now, bytes: $0.received.body.count) }
    }

    /// Whether the answer waits for room.
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
            // Its bounds refuse nobody.
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

    /// Takes in what waited for room.
    private func goOn(_ units: Int) {
        let now = clock.steady
        let promise = state.withLock { state in
            guard let (part, promise) = state.waiting else { return nil as EventLoopPromise<Void>? }
            state.waiting = nil
            state.pace.goOn(at: now)
            // It never grows, which would need twice the room.
            state.received.body.reserveCapacity(units)
            state.received.body += part.readableBytesView
            return promise
        }
        guard let promise else { return }
        onPace(self)
        promise.succeed()
    }

    /// Gives up: what waits for room waits no longer, and what was taken in is let go.
    func giveUp() {
        // The ticket goes when nothing is locked: whoever has the room next is told by it.
        let (waiting, ticket) = state.withLock { state in
            state.isOver = true
            state.received.body = []
            defer { (state.waiting, state.received.ticket) = (nil, nil) }
            return (state.waiting, state.received.ticket)
        }
        ticket?.leave()
        waiting?.promise.fail(NoRoomError())
    }

    /// The whole answer, which is the caller's from now on.
    func didFinishRequest(task: HTTPClient.Task<Received>) -> Received {
        state.withLock { state in
            defer { state.received = Received(head: state.received.head) }
            return state.received
        }
    }
}

extension AnswerReader {
    /// The limit for the rest of a body that has begun: 5 s, and another for each 64 KiB that came.
    ///
    /// The time in which it waits for room does not count, but is bounded too.
    struct Pace: Sendable {
        static let seconds: Double = 5
        static let bytesPerSecond: Double = 65_536
        /// The most seconds for which a body waits for room: less than a call has, and than others wait for its place.
        static let patience: Double = 20

        /// When the body began, later by the time in which it waited; on the steady clock.
        private var begun: Double?
        private var waitingSince: Double?

        /// Whether it begins now.
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
