import Journal
import NIOCore
import Records
import Synchronization

/// A client that was sent all events so far, and is sent those that come on the event loop of its connection.
///
/// Such a reader adds 0.02 ms of processor time to a request, which has three events (`make bench ONLY=waiting`); one that
/// looks for them itself takes 0.05 for each (`make bench ONLY=clients`).
final class EventReader: Sendable {
    /// Where the events go.
    protocol Client: Sendable {
        var loop: any EventLoop { get }
        /// Whether little of what it was sent waits for the client; asked on the event loop.
        var takesMore: Bool { get }
        /// Sends a part of the answer that goes on; on the event loop.
        func send(_ part: ByteBuffer)
    }

    /// The place up to which a client was sent all that is for it.
    struct Place: Sendable {
        var position: EventCursor
        /// Whether the client knows it: of what is not for it, it does not learn at once.
        var isKnown = true
        /// Whether it has to look itself for what comes next.
        var isBehind = false
    }

    private struct State {
        var place: Place
        var isFollowing = false

        mutating func fallBehind() { (isFollowing, place.isBehind) = (false, true) }
    }

    let client: any Client
    private let enrollment: EnrollmentID?
    private let state = Mutex(State(place: Place(position: .beginning)))
    private let pauses: AsyncStream<Void>
    private let pausing: AsyncStream<Void>.Continuation

    /// - Parameter enrollment: whose events it wants; nil for all.
    init(_ client: any Client, of enrollment: EnrollmentID?) {
        self.client = client
        self.enrollment = enrollment
        (pauses, pausing) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Sends what of a page is for this client; on the event loop of its connection.
    ///
    /// A reader that is not where the page begins has to look itself: its place in the chains of other hosts may be
    /// another, and the page may be one of a time before it began to follow.
    func take(_ page: EncodedEvents) {
        let bytes: ByteBuffer? = state.withLock { state in
            let position = state.place.position
            guard state.isFollowing, !position.reaches(page.position) else { return nil }
            if position == page.after {
                let bytes = page.bytes(for: enrollment)
                if bytes == nil || client.takesMore {
                    state.place = Place(position: page.position, isKnown: bytes != nil)
                    return bytes
                }
            }
            state.fallBehind()
            pause()
            return nil
        }
        // Whatever its task sends from now on comes after it: that too is written on the event loop.
        if let bytes { client.send(bytes) }
    }

    /// Ends the waiting for what comes; it may be called from anywhere.
    func pause() { pausing.yield() }

    /// The same, for good.
    func end() { pausing.finish() }

    /// It has to look itself for what comes next.
    fileprivate func fallBehind() {
        state.withLock { $0.fallBehind() }
        pause()
    }

    fileprivate func begin(at position: EventCursor) {
        state.withLock { $0 = State(place: Place(position: position), isFollowing: true) }
    }

    /// Waits until it is to pause.
    ///
    /// - Throws: `CancellationError` once it was ended.
    fileprivate func untilPaused() async throws {
        for await _ in pauses { return }
        throw CancellationError()
    }

    /// It is sent nothing any more by itself.
    fileprivate func stop() -> Place {
        state.withLock { state in
            state.isFollowing = false
            return state.place
        }
    }
}

/// Sends each event to all who were sent what was before it: it is looked up once, and each connection's event loop is
/// woken up once.
final class EventReaders: Sendable {
    private struct Group {
        let loop: any EventLoop
        var readers: [EventReader]
    }

    private struct State {
        /// Readers that follow, by their event loops.
        var groups: [Group] = []
        /// Readers that are behind the others.
        var waiting: [EventReader] = []
        /// Where the next look begins: none of those who follow is before it.
        var position = EventCursor.beginning
    }

    private let newest: @Sendable () -> EventCursor?
    private let look: @Sendable (EventCursor) async throws -> EncodedEvents
    private let state = Mutex(State())

    /// Whether there are any.
    var areThere: Bool { state.withLock { !$0.groups.isEmpty } }

    /// - Parameters:
    ///   - newest: where the journal ends, at least as far as was rung for; nil if that is not known.
    ///   - look: gives the events after a place.
    init(
        newest: @escaping @Sendable () -> EventCursor?,
        look: @escaping @Sendable (EventCursor) async throws -> EncodedEvents
    ) {
        self.newest = newest
        self.look = look
    }

    /// Has a reader sent what comes after a place, for a time or until it has to look itself.
    ///
    /// - Parameters:
    ///   - ring: makes what ``run(_:)`` listens to ring.
    ///   - alarm: rings when the time is over.
    /// - Returns: how far it was sent all.
    /// - Throws: `CancellationError` once the reader was ended.
    func follow(
        _ reader: EventReader, from position: EventCursor, ringing ring: () -> Void,
        until alarm: (@escaping @Sendable () -> Void) -> Alarm
    ) async throws -> EventReader.Place {
        // Before it enters: from that on it may be sent what comes.
        reader.begin(at: position)
        let isLevel = enter(reader, at: position)
        defer { leave(reader) }
        // Events between its last look and now have rung for nobody. A reader that is not where the others are waits for a
        // look, which brings them together.
        if !isLevel || newest().map(position.reaches) != true { ring() }
        let deadline = alarm { reader.pause() }
        defer { deadline.cancel() }
        try await reader.untilPaused()
        return reader.stop()
    }

    /// Sends events whenever the notifier rings, until it is cancelled.
    func run(_ notifier: EventNotifier) async {
        for await _ in notifier { await sendAll() }
    }

    /// Sends what has come to those who follow.
    func sendAll() async {
        do {
            repeat {
                guard let start = state.withLock({ $0.groups.isEmpty ? nil : $0.position }) else { break }
                // Meanwhile readers come and go; if all have gone, those who came may be at another place.
                let page = try await look(start)
                guard page.position != start else { break }
                send(page)
            } while newest().map({ newest in state.withLock { $0.position.reaches(newest) } }) != true
        } catch {
            // Each of them looks itself, and ends if that fails too.
            let readers = state.withLock { $0.groups.flatMap(\.readers) }
            for reader in readers { reader.fallBehind() }
        }
        let waiting = state.withLock(\.waiting)
        for reader in waiting { reader.fallBehind() }
    }

    private func send(_ page: EncodedEvents) {
        let groups: [Group] = state.withLock { state in
            guard state.position == page.after else { return [] }
            state.position = page.position
            return state.groups
        }
        for group in groups {
            group.loop.execute { for reader in group.readers { reader.take(page) } }
        }
    }

    /// - Returns: whether all who follow are at that place.
    private func enter(_ reader: EventReader, at position: EventCursor) -> Bool {
        let loop = reader.client.loop
        return state.withLock { state in
            if state.groups.isEmpty { state.position = position }
            guard position.reaches(state.position) else {
                state.waiting.append(reader)
                return false
            }
            if let index = state.groups.firstIndex(where: { $0.loop === loop }) {
                state.groups[index].readers.append(reader)
            } else {
                state.groups.append(Group(loop: loop, readers: [reader]))
            }
            return position == state.position
        }
    }

    private func leave(_ reader: EventReader) {
        let loop = reader.client.loop
        state.withLock { state in
            state.waiting.removeAll { $0 === reader }
            guard let index = state.groups.firstIndex(where: { $0.loop === loop }) else { return }
            state.groups[index].readers.removeAll { $0 === reader }
            if state.groups[index].readers.isEmpty { state.groups.remove(at: index) }
        }
    }
}
