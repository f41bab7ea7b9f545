import Authenticator
import Control
import NIOCore
import Synchronization

/// Some events as they are sent, and how far they reach.
struct EncodedEvents: Sendable {
    struct Event: Sendable {
        let sequence: Int64
        let enrollment: EnrollmentID?
        let bytes: ByteBuffer
    }

    fileprivate let after: Int64
    fileprivate let events: [Event]
    /// All of them one after the other, which their readers share.
    fileprivate let all: ByteBuffer
    let position: Int64

    init(after: Int64, events: [Event], position: Int64) {
        self.after = after
        self.events = events
        self.position = position
        all = Self.joined(events, reaching: position)
    }

    /// What a reader is sent who was told all up to a position; nil if that is nothing.
    ///
    /// - Parameter enrollment: whose events it wants; nil for all.
    func bytes(for enrollment: EnrollmentID?, after position: Int64) -> ByteBuffer? {
        guard self.position != position || !events.isEmpty else { return nil }
        guard let enrollment else { return all }
        let wanted = events.filter { $0.enrollment == nil || $0.enrollment == enrollment }
        return Self.joined(wanted, reaching: self.position)
    }

    private static func joined(_ events: [Event], reaching position: Int64) -> ByteBuffer {
        var all = ByteBuffer()
        all.reserveCapacity(events.reduce(32) { $0 + $1.bytes.readableBytes })
        for event in events { all.writeImmutableBuffer(event.bytes) }
        if events.last?.sequence != position { all.writeBytes(ServerSentEvents.position(position)) }
        return all
    }
}

/// Has each event looked up and written once for all who have read up to the same one, as those have who keep up.
final class EventFeed: Sendable {
    /// Whoever is more entries behind looks alone, and in the turn of its user.
    static let nearby: Int64 = 32

    private let newest: @Sendable () -> Int64?
    private let look: @Sendable (Int64) async throws -> EncodedEvents
    private let responses: ResponseQueue
    private let looks = KeyedQueue<Int64>()
    private let last = Mutex<EncodedEvents?>(nil)

    /// - Parameters:
    ///   - newest: where the journal ends; nil if that is not known.
    ///   - look: gives the events after an entry.
    init(
        responses: ResponseQueue, newest: @escaping @Sendable () -> Int64?,
        look: @escaping @Sendable (Int64) async throws -> EncodedEvents
    ) {
        self.responses = responses
        self.newest = newest
        self.look = look
    }

    /// The events after an entry; others may be sent the same.
    func page(after position: Int64, for peer: ConnectionTable.Peer) async throws -> EncodedEvents {
        if let kept = kept(after: position) { return kept }
        guard let head = newest(), (0...Self.nearby).contains(head - position) else {
            return try await responses.short(of: peer) { try await self.look(position) }
        }
        return try await looks.run(position) {
            // Whoever was before in the queue has looked.
            if let kept = self.kept(after: position) { return kept }
            let found = try await self.look(position)
            self.last.withLock { last in
                if last.map({ $0.position <= found.position }) ?? true { last = found }
            }
            return found
        }
    }

    /// What was looked up last, if it is what follows this entry, and nothing has happened since.
    private func kept(after position: Int64) -> EncodedEvents? {
        guard let last = last.withLock(\.self), last.after == position, last.position == newest() else { return nil }
        return last
    }
}

extension Agent {
    /// The events after an entry, as they are sent, at most 32.
    func encodedEvents(after position: Int64) async throws -> EncodedEvents {
        let page = try await journal.events(after: position)
        let chosen = page.events.prefix(32)
        let reached = chosen.count < page.events.count ? chosen.last?.sequence : nil
        return EncodedEvents(after: position, events: try await encoded(chosen), position: reached ?? page.position)
    }

    private func encoded(_ events: ArraySlice<JournalEvent>) async throws -> [EncodedEvents.Event] {
        let records = try await requests(Set(events.compactMap(\.request)))
        let enrollments = try await enrollments(of: Array(records.values))
        let views = records.mapValues { RequestView($0, enrollment: enrollments[$0.enrollmentId]) }
        return try events.map { event in
            let view = EventView(
                event: event.name.rawValue, seq: event.sequence, at: event.at, enrollmentId: event.enrollment?.text,
                request: event.request.flatMap { views[$0] })
            let bytes = ServerSentEvents.event(event.sequence, try ControlJSON.encode(view))
            return EncodedEvents.Event(
                sequence: event.sequence, enrollment: event.enrollment, bytes: ByteBuffer(bytes: bytes))
        }
    }
}
