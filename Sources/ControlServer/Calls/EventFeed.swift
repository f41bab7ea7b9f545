import Authenticator
import Control
import NIOCore
import Synchronization

/// Some events as they are sent, and how far they reach.
struct EncodedEvents: Sendable {
    struct Event: Sendable {
        /// Where a reader is who was told up to it.
        let cursor: EventCursor
        let enrollment: EnrollmentID?
        let bytes: ByteBuffer
    }

    fileprivate let after: EventCursor
    fileprivate let events: [Event]
    /// All of them one after the other, which their readers share.
    fileprivate let all: ByteBuffer
    let position: EventCursor

    init(after: EventCursor, events: [Event], position: EventCursor) {
        self.after = after
        self.events = events
        self.position = position
        all = Self.joined(events, reaching: position)
    }

    /// What a reader is sent who was told all up to a position; nil if that is nothing.
    ///
    /// - Parameter enrollment: whose events it wants; nil for all.
    func bytes(for enrollment: EnrollmentID?, after position: EventCursor) -> ByteBuffer? {
        guard self.position != position || !events.isEmpty else { return nil }
        guard let enrollment else { return all }
        let wanted = events.filter { $0.enrollment == nil || $0.enrollment == enrollment }
        return Self.joined(wanted, reaching: self.position)
    }

    private static func joined(_ events: [Event], reaching position: EventCursor) -> ByteBuffer {
        var all = ByteBuffer()
        all.reserveCapacity(events.reduce(32) { $0 + $1.bytes.readableBytes })
        for event in events { all.writeImmutableBuffer(event.bytes) }
        if events.last?.cursor != position { all.writeBytes(ServerSentEvents.position(position.text)) }
        return all
    }
}

/// Has each event looked up and written once for all who have read up to the same place, as those have who keep up.
final class EventFeed: Sendable {
    /// Whoever is more entries behind looks alone, and in the turn of its user.
    static let nearby: Int64 = 32

    private let newest: @Sendable () -> EventCursor?
    private let look: @Sendable (EventCursor) async throws -> EncodedEvents
    private let responses: ResponseQueue
    private let looks = KeyedQueue<EventCursor>()
    private let last = Mutex<EncodedEvents?>(nil)

    /// - Parameters:
    ///   - newest: where the journal ends, at least as far as its readers were rung for; nil if that is not known.
    ///   - look: gives the events after a place.
    init(
        responses: ResponseQueue, newest: @escaping @Sendable () -> EventCursor?,
        look: @escaping @Sendable (EventCursor) async throws -> EncodedEvents
    ) {
        self.responses = responses
        self.newest = newest
        self.look = look
    }

    /// The events after a place; others may be sent the same.
    func page(after position: EventCursor, for peer: ConnectionTable.Peer) async throws -> EncodedEvents {
        if let kept = kept(after: position) { return kept }
        guard let newest = newest(), position.isWithin(Self.nearby, before: farthest(newest)) else {
            return try await responses.short(of: peer) { try await self.look(position) }
        }
        return try await looks.run(position) {
            // Whoever was before in the queue has looked.
            if let kept = self.kept(after: position) { return kept }
            let found = try await self.look(position)
            self.last.withLock { last in
                // One that was looked up earlier may come later.
                if last.map({ $0.position == found.position || !$0.position.reaches(found.position) }) ?? true {
                    last = found
                }
            }
            return found
        }
    }

    /// What was looked up last, if it is what follows this entry, and nothing has happened since.
    private func kept(after position: EventCursor) -> EncodedEvents? {
        guard let last = last.withLock(\.self), last.after == position, let newest = newest(),
            last.position.reaches(newest)
        else { return nil }
        return last
    }

    /// What a look has found may be ahead of what readers were rung for: other hosts are heard of later.
    private func farthest(_ newest: EventCursor) -> EventCursor {
        last.withLock { $0.map { newest.joined($0.position) } ?? newest }
    }
}

extension Agent {
    /// How many events are sent at a time, some 150 KB: a packed block of the journal, which is read whole, has about
    /// as many.
    private static let eventsOfPage = 128

    /// The events after a place, as they are sent: at most so many, or one of each chain.
    func encodedEvents(after position: EventCursor) async throws -> EncodedEvents {
        let (page, requests) = try await journal.eventsWithRequests(after: position, limit: Self.eventsOfPage)
        return EncodedEvents(after: position, events: try encoded(page.events, of: requests), position: page.position)
    }

    private func encoded(
        _ events: [JournalEvent], of requests: [RequestID: FoundRequest]
    ) throws -> [EncodedEvents.Event] {
        let views = try requests.mapValues {
            try ControlJSON.json(of: RequestView($0.request, enrollment: $0.enrollment))
        }
        return try events.map { event in
            var view = EventView(
                event: event.name.rawValue, seq: event.sequence, at: event.at, enrollmentId: event.enrollment?.text)
            if !event.host.isEmpty { (view.host, view.cursor) = (event.host, event.cursor.text) }
            let data = try view.encoded(with: event.request.flatMap { views[$0] })
            let bytes = ServerSentEvents.event(event.cursor.text, data)
            return EncodedEvents.Event(
                cursor: event.cursor, enrollment: event.enrollment, bytes: ByteBuffer(bytes: bytes))
        }
    }
}
