import NIOCore
import Synchronization
import Testing

@testable import Authenticator
@testable import ControlServer

/// Those who keep up with events share what is looked up for one of them.
struct EventFeedTests {
    /// A journal in which each entry is an event of one of two enrollments, and the looks that were made.
    private final class Journal: Sendable {
        let head = Mutex<Int64>(0)
        let looks = Mutex<[Int64]>([])

        func events(after position: Int64, _ enrollments: [EnrollmentID]) -> EncodedEvents {
            looks.withLock { $0.append(position) }
            let end = head.withLock(\.self)
            let events = (position..<end).map { before in
                EncodedEvents.Event(
                    cursor: EventCursor(before + 1), enrollment: enrollments[Int(before) % 2],
                    bytes: ByteBuffer(string: "event \(before + 1)\n"))
            }
            return EncodedEvents(after: EventCursor(position), events: events, position: EventCursor(end))
        }
    }

    private let journal = Journal()
    private let feed: EventFeed
    private let enrollments: [EnrollmentID]
    private let peer = ConnectionTable.Peer(uid: 1, pid: 1)

    init() throws {
        let enrollments = try ["a", "b"].map { try #require(EnrollmentID(String(repeating: $0, count: 20))) }
        self.enrollments = enrollments
        feed = EventFeed(responses: ResponseQueue()) { [journal] in
            EventCursor(journal.head.withLock(\.self))
        } look: { [journal] in
            journal.events(after: $0[""], enrollments)
        }
    }

    private var looks: [Int64] { journal.looks.withLock(\.self) }

    private func add(_ count: Int64) { journal.head.withLock { $0 += count } }

    private func text(after position: Int64, of enrollment: EnrollmentID? = nil) async throws -> String? {
        let cursor = EventCursor(position)
        let page = try await feed.page(after: cursor, for: peer)
        return page.bytes(for: enrollment, after: cursor).map { String(buffer: $0) }
    }

    @Test func `an event is looked up once for all who have read up to it`() async throws {
        for round in 0..<3 as Range<Int64> {
            add(1)
            let texts = try await withThrowingTaskGroup { group in
                for _ in 0..<50 { group.addTask { try await text(after: round) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(texts) == ["event \(round + 1)\n"] && texts.count == 50)
        }
        #expect(looks == [0, 1, 2])
    }

    @Test func `what was looked up before something happened is not sent after it`() async throws {
        add(1)
        #expect(try await text(after: 0) == "event 1\n")
        add(1)
        #expect(try await text(after: 0) == "event 1\nevent 2\n")
        #expect(looks == [0, 0])
    }

    @Test func `whoever is far behind looks alone, and leaves what others share`() async throws {
        add(100)
        #expect(try await text(after: 99) == "event 100\n")
        #expect(try await text(after: 0)?.hasPrefix("event 1\n") == true)
        #expect(try await text(after: 99) == "event 100\n")
        #expect(looks == [99, 0])
    }

    @Test func `a reader of one enrollment gets its events, and how far all was told`() async throws {
        add(4)
        #expect(try await text(after: 0, of: enrollments[1]) == "event 2\nevent 4\n")
        #expect(try await text(after: 0, of: enrollments[0]) == "event 1\nevent 3\nid: 4\n\n")
        #expect(try await text(after: 4, of: enrollments[0]) == nil)
        #expect(looks == [0, 4])
    }

    // MARK: Several hosts

    /// Journals of two hosts, each entry an event; readers are rung for what `rung` says.
    private final class Journals: Sendable {
        let heads = Mutex(EventCursor.beginning)
        let rung = Mutex(EventCursor.beginning)
        let looks = Mutex<[String]>([])

        /// What a reader here is not rung for yet, if `quietly`.
        func add(_ host: String, quietly: Bool = false) {
            let heads = heads.withLock { heads in
                heads[host] += 1
                return heads
            }
            if !quietly { rung.withLock { $0 = heads } }
        }

        func events(after place: EventCursor) -> EncodedEvents {
            looks.withLock { $0.append(place.text) }
            var place = place
            let (start, end) = (place, heads.withLock(\.self))
            var events: [EncodedEvents.Event] = []
            for host in ["alpha", "beta"] {
                while place[host] < end[host] {
                    place[host] += 1
                    events.append(
                        EncodedEvents.Event(
                            cursor: place, enrollment: nil, bytes: ByteBuffer(string: "\(host) \(place[host])\n")))
                }
            }
            return EncodedEvents(after: start, events: events, position: place)
        }
    }

    private func feed(of journals: Journals) -> EventFeed {
        EventFeed(responses: ResponseQueue()) {
            journals.rung.withLock(\.self)
        } look: {
            journals.events(after: $0)
        }
    }

    private func texts(_ count: Int, after place: EventCursor, of feed: EventFeed) async throws -> Set<String?> {
        try await withThrowingTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    let page = try await feed.page(after: place, for: peer)
                    return page.bytes(for: nil, after: place).map { String(buffer: $0) }
                }
            }
            return try await group.reduce(into: []) { $0.insert($1) }
        }
    }

    @Test func `an event of another host is looked up once for all too, rung for it or not`() async throws {
        let journals = Journals()
        let feed = feed(of: journals)
        journals.add("alpha")
        journals.add("beta")
        #expect(try await texts(50, after: .beginning, of: feed) == ["alpha 1\nbeta 1\n"])
        journals.add("beta", quietly: true)
        journals.add("alpha")
        var place = try #require(EventCursor("alpha:1,beta:1"))
        #expect(try await texts(50, after: place, of: feed) == ["alpha 2\nbeta 2\n"])
        place = try #require(EventCursor("alpha:2,beta:2"))
        // Behind what they were rung for.
        journals.rung.withLock { $0["beta"] = 1 }
        journals.heads.withLock { $0["alpha"] += 1 }
        journals.rung.withLock { $0["alpha"] += 1 }
        #expect(try await texts(50, after: place, of: feed) == ["alpha 3\n"])
        #expect(journals.looks.withLock(\.self) == ["0", "alpha:1,beta:1", "alpha:2,beta:2"])
    }

    @Test func `what was looked up before another host's event came is not sent after it`() async throws {
        let journals = Journals()
        let feed = feed(of: journals)
        journals.add("alpha")
        #expect(try await texts(1, after: .beginning, of: feed) == ["alpha 1\n"])
        journals.add("beta")
        #expect(try await texts(1, after: .beginning, of: feed) == ["alpha 1\nbeta 1\n"])
        #expect(journals.looks.withLock(\.count) == 2)
    }
}
