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
                    sequence: before + 1, enrollment: enrollments[Int(before) % 2],
                    bytes: ByteBuffer(string: "event \(before + 1)\n"))
            }
            return EncodedEvents(after: position, events: events, position: end)
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
            journal.head.withLock(\.self)
        } look: { [journal] in
            journal.events(after: $0, enrollments)
        }
    }

    private var looks: [Int64] { journal.looks.withLock(\.self) }

    private func add(_ count: Int64) { journal.head.withLock { $0 += count } }

    private func text(after position: Int64, of enrollment: EnrollmentID? = nil) async throws -> String? {
        let page = try await feed.page(after: position, for: peer)
        return page.bytes(for: enrollment, after: position).map { String(buffer: $0) }
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
}
