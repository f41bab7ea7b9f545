import Authenticator
import Control
import Journal
import NIOCore
import Records

/// A page of events in the form in which they are sent, with its start and end.
///
/// The agent loads and encodes a page once for all readers; ``EventReader`` gives the saving.
struct EncodedEvents: Sendable {
    struct Event: Sendable {
        /// The place of a reader that has received all events from the page's start to this one.
        let cursor: EventCursor
        let enrollment: EnrollmentID?
        let bytes: ByteBuffer
    }

    /// The place after which the page starts.
    let after: EventCursor
    let position: EventCursor
    private let events: [Event]
    /// All events in a row; their readers share this buffer.
    private let all: ByteBuffer

    init(after: EventCursor, events: [Event], position: EventCursor) {
        self.after = after
        self.events = events
        self.position = position
        all = Self.joined(events, reaching: position)
    }

    /// Returns the bytes for a reader at the page's start, or `nil` if no event is for it.
    ///
    /// - Parameter enrollment: the enrollment whose events the reader wants. `nil` for all.
    func bytes(for enrollment: EnrollmentID?) -> ByteBuffer? {
        guard let enrollment else { return events.isEmpty ? nil : all }
        let wanted = events.filter { $0.enrollment == nil || $0.enrollment == enrollment }
        return wanted.isEmpty ? nil : Self.joined(wanted, reaching: position)
    }

    /// The end of the page, for a reader without events in it.
    var place: ByteBuffer { Self.joined([], reaching: position) }

    private static func joined(_ events: [Event], reaching position: EventCursor) -> ByteBuffer {
        var all = ByteBuffer()
        all.reserveCapacity(events.reduce(32) { $0 + $1.bytes.readableBytes })
        for event in events { all.writeImmutableBuffer(event.bytes) }
        if events.last?.cursor != position { all.writeBytes(ServerSentEvents.position(position.text)) }
        return all
    }
}

extension Agent {
    /// The number of events sent at a time, some 150 KB.
    private static let eventsOfPage = 128

    /// The events after a place, encoded: at most ``eventsOfPage``, or one of each chain.
    func encodedEvents(after position: EventCursor) async throws -> EncodedEvents {
        let (page, requests) = try await journal.eventsWithRequests(after: position, limit: Self.eventsOfPage)
        return EncodedEvents(after: position, events: try encoded(page.events, of: requests), position: page.position)
    }

    private func encoded(
        _ events: [JournalEvent], of requests: [RequestID: FoundRequest]
    ) throws -> [EncodedEvents.Event] {
        let views = requests.mapValues { RequestView($0.request, enrollment: $0.enrollment) }
        return try events.map { event in
            var view = EventView(
                event: event.name.rawValue, seq: event.sequence, at: event.at, enrollmentId: event.enrollment?.text)
            if !event.host.isEmpty { (view.host, view.cursor) = (event.host, event.cursor.text) }
            view.request = event.request.flatMap { views[$0] }
            let bytes = try ServerSentEvents.event(event.cursor.text, ControlJSON.encode(view))
            return EncodedEvents.Event(
                cursor: event.cursor, enrollment: event.enrollment, bytes: ByteBuffer(bytes: bytes))
        }
    }
}
