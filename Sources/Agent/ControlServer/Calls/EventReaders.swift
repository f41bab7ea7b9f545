import Journal
import NIOCore
import Records
import Synchronization

/// A client that has received all events so far.
///
/// New events are sent on the event loop of its connection.
///
/// Such a reader adds 0.02 ms of processor time to a request, which has three events (`make bench ONLY=waiting`). A
/// reader that queries the journal itself takes 0.05 ms for each event (`make bench ONLY=clients`).
final class EventReader: Sendable {
    /// The destination of the events.
    protocol Client: Sendable {
        var loop: any EventLoop { get }
        /// Whether little data waits for the client; called on the event loop.
        var takesMore: Bool { get }
        /// Sends a part of the open answer; called on the event loop.
        func send(_ part: ByteBuffer)
    }

    /// The place up to which a client has received all its events.
    struct Place: Sendable {
        var position: EventCursor
        /// Whether this place was sent to the client; events for others move it without a message.
        var isKnown = true
        /// Whether this reader must query the journal for the next events.
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

    /// - Parameter enrollment: the enrollment whose events the client wants. `nil` for all.
    init(_ client: any Client, of enrollment: EnrollmentID?) {
        self.client = client
        self.enrollment = enrollment
        (pauses, pausing) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Sends the client's events of a page.
    ///
    /// Called on the event loop of its connection.
    ///
    /// A reader that is not at the page's start must query the journal itself. Its place in the chains of other hosts
    /// may differ, and the page may be older than its `begin`.
    func send(_ page: EncodedEvents) {
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
        // All that the reader's task sends from now on comes after this, because it too is written on the event loop.
        if let bytes { client.send(bytes) }
    }

    /// Ends the wait for new events; may be called from any thread.
    func pause() { pausing.yield() }

    /// Ends the wait for good.
    func finish() { pausing.finish() }

    /// Makes the reader query the journal for the next events.
    fileprivate func fallBehind() {
        state.withLock { $0.fallBehind() }
        pause()
    }

    fileprivate func begin(at position: EventCursor) {
        state.withLock { $0 = State(place: Place(position: position), isFollowing: true) }
    }

    /// Waits until ``pause()`` is called.
    ///
    /// - Throws: `CancellationError` once ``finish()`` was called.
    fileprivate func untilPaused() async throws {
        for await _ in pauses { return }
        throw CancellationError()
    }

    /// Stops sending events to the reader; returns its place.
    fileprivate func stop() -> Place {
        state.withLock { state in
            state.isFollowing = false
            return state.place
        }
    }
}

/// Sends new events to all readers that are up to date.
///
/// Each event is loaded once, and each connection's event loop is woken up once.
final class EventReaders: Sendable {
    private struct Group {
        let loop: any EventLoop
        var readers: [EventReader]
    }

    private struct State {
        /// Readers that follow, by their event loops.
        var groups: [Group] = []
        /// Readers that are behind ``position``, which must query the journal themselves after the next page.
        var waiting: [EventReader] = []
        /// The start of the next page; no reader that follows is before it.
        var position = EventCursor.beginning
    }

    private let newest: @Sendable () -> EventCursor?
    private let look: @Sendable (EventCursor) async throws -> EncodedEvents
    private let state = Mutex(State())

    /// Whether any reader follows.
    var areThere: Bool { state.withLock { !$0.groups.isEmpty } }

    /// - Parameters:
    ///   - newest: the end of the journal, at least as far as the notifier has rung. `nil` if unknown.
    ///   - look: loads the events after a place.
    init(
        newest: @escaping @Sendable () -> EventCursor?,
        look: @escaping @Sendable (EventCursor) async throws -> EncodedEvents
    ) {
        self.newest = newest
        self.look = look
    }

    /// Sends a reader the events after a place, for a time or until it must query the journal itself.
    ///
    /// - Parameters:
    ///   - ring: wakes the notifier that ``serve(_:)`` waits for.
    ///   - alarm: fires at the end of the time.
    /// - Returns: the place up to which all events were sent.
    /// - Throws: `CancellationError` once the reader was ended.
    func follow(
        _ reader: EventReader, from position: EventCursor, ringing ring: () -> Void,
        until alarm: (@escaping @Sendable () -> Void) -> Alarm
    ) async throws -> EventReader.Place {
        // Before it enters: from then on events may be sent to it.
        reader.begin(at: position)
        let isLevel = enter(reader, at: position)
        defer { leave(reader) }
        // Events between its last query and now have rung for no reader. A reader that is not where the others are
        // waits for the next query, which brings them together.
        if !isLevel || newest().map(position.reaches) != true { ring() }
        let deadline = alarm { reader.pause() }
        defer { deadline.cancel() }
        try await reader.untilPaused()
        return reader.stop()
    }

    /// Sends events each time the notifier rings, until it is cancelled.
    func serve(_ notifier: EventNotifier) async {
        for await _ in notifier { await sendAll() }
    }

    /// Sends the new events to the readers that follow.
    func sendAll() async {
        do {
            repeat {
                guard let start = state.withLock({ $0.groups.isEmpty ? nil : $0.position }) else { break }
                // During the load readers come and go. If all have gone, the new ones may be at another place.
                let page = try await look(start)
                guard page.position != start else { break }
                send(page)
            } while newest().map({ newest in state.withLock { $0.position.reaches(newest) } }) != true
        } catch {
            // Each reader then queries the journal itself, and ends if that fails too.
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
            group.loop.execute { for reader in group.readers { reader.send(page) } }
        }
    }

    /// - Returns: whether all readers that follow are at that place.
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
