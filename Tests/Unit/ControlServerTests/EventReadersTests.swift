import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import ControlServer
@testable import Journal
@testable import Records

/// Those who have read all events are sent those that come, on the event loops of their connections.
@Suite(.timeLimit(.minutes(20)))
struct EventReadersTests {
    /// A client, and what it was sent; it can stop taking it.
    private final class Client: EventReader.Client {
        let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let sent = Mutex<[String]>([])
        let takes = Mutex(true)

        var takesMore: Bool { takes.withLock(\.self) }

        func send(_ part: ByteBuffer) { sent.withLock { $0.append(String(buffer: part)) } }

        /// What it was sent so far.
        func all() async throws -> [String] {
            try await loop.submit {}.get()
            return sent.withLock(\.self)
        }
    }

    /// Journals of hosts, each entry an event of one of two enrollments in turn, and the looks that were made.
    private final class Journals: Sendable {
        struct Broken: Error {}

        let heads = Mutex(EventCursor.beginning)
        let looks = Mutex<[String]>([])
        let isBroken = Mutex(false)
        let enrollments: [EnrollmentID]

        init(_ enrollments: [EnrollmentID]) { self.enrollments = enrollments }

        var newest: EventCursor { heads.withLock(\.self) }

        func add(_ host: String = "") { heads.withLock { $0[host] += 1 } }

        /// The only chain is named, as it is when another host has one.
        func name(_ host: String) {
            heads.withLock { heads in
                heads[host] = heads[""]
                heads[""] = 0
            }
        }

        func events(after start: EventCursor) throws -> EncodedEvents {
            looks.withLock { $0.append(start.text) }
            guard !isBroken.withLock(\.self) else { throw Broken() }
            let end = newest
            var (place, events) = (start, [EncodedEvents.Event]())
            if let host = end.hosts.first, place[""] > 0, end[""] == 0 { (place[host], place[""]) = (place[""], 0) }
            for host in end.hosts {
                while place[host] < end[host] {
                    place[host] += 1
                    events.append(
                        EncodedEvents.Event(
                            cursor: place, enrollment: enrollments[Int(place[host]) % 2],
                            bytes: ByteBuffer(string: "\(host)\(place[host])\n")))
                }
            }
            return EncodedEvents(after: start, events: events, position: place)
        }
    }

    private let journals: Journals
    private let readers: EventReaders
    private let enrollments: [EnrollmentID]

    init() throws {
        enrollments = try ["a", "b"].map { try #require(EnrollmentID(String(repeating: $0, count: 20))) }
        let journals = Journals(enrollments)
        self.journals = journals
        readers = EventReaders(newest: { journals.newest }, look: { try journals.events(after: $0) })
    }

    private var looks: [String] { journals.looks.withLock(\.self) }

    /// Has clients follow from a place while `body` runs, and says how far each was sent all.
    private func following(
        _ clients: [Client], of enrollment: EnrollmentID? = nil, from place: EventCursor = .beginning,
        _ body: () async throws -> Void
    ) async throws -> [EventReader.Place] {
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let each = clients.map { EventReader($0, of: enrollment) }
        return try await withThrowingTaskGroup { [readers] group in
            for (number, reader) in each.enumerated() {
                group.addTask {
                    let place = try await readers.follow(reader, from: place, ringing: {}) { _ in
                        entering.yield()
                        return Alarm {}
                    }
                    return (number, place)
                }
            }
            var arrivals = entered.makeAsyncIterator()
            for _ in clients { await arrivals.next() }
            try await body()
            // All that was to be sent is.
            for client in clients { _ = try await client.all() }
            for reader in each { reader.pause() }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Follows until its time is over, which it is at once.
    private func follow(_ client: Client, from text: String, ringing ring: () -> Void = {}) async throws
        -> EventReader.Place
    {
        let place = try #require(EventCursor(text))
        let reader = EventReader(client, of: nil)
        return try await readers.follow(reader, from: place, ringing: ring) { over in
            over()
            return Alarm {}
        }
    }

    /// Follows while nobody ends it but a look.
    private func wait(from text: String) async throws -> EventReader.Place {
        let place = try #require(EventCursor(text))
        let (rung, ringing) = AsyncStream.makeStream(of: Void.self)
        async let followed = readers.follow(EventReader(Client(), of: nil), from: place, ringing: { ringing.yield() }) {
            _ in Alarm {}
        }
        for await _ in rung { break }
        await readers.sendAll()
        return try await followed
    }

    @Test func `who reads one enrollment's events is sent those of none as well, which say that events are gone`() {
        let (first, second) = (enrollments[0], enrollments[1])
        let events = [nil, second, first].enumerated().map { number, enrollment in
            EncodedEvents.Event(
                cursor: EventCursor(Int64(number) + 1), enrollment: enrollment,
                bytes: ByteBuffer(string: "event \(number)\n"))
        }
        let page = EncodedEvents(after: .beginning, events: events, position: EventCursor(3))
        #expect(page.bytes(for: first).map { String(buffer: $0) } == "event 0\nevent 2\n")
    }

    @Test func `an event is looked up once for all who follow, and each of them is sent it once`() async throws {
        let clients = (0..<20).map { _ in Client() }
        let places = try await following(clients) { () async throws in
            for _ in 1...3 {
                journals.add()
                await readers.sendAll()
            }
            for client in clients { #expect(try await client.all() == ["1\n", "2\n", "3\n"]) }
        }
        #expect(looks == ["0", "1", "2"])
        #expect(places.allSatisfy { $0.position == EventCursor(3) && $0.isKnown && !$0.isBehind })
    }

    @Test func `what comes while nobody follows is not looked up`() async throws {
        journals.add()
        await readers.sendAll()
        #expect(looks.isEmpty && !readers.areThere)
        let client = Client()
        _ = try await following([client]) { #expect(readers.areThere) }
        journals.add()
        await readers.sendAll()
        #expect(looks.isEmpty && !readers.areThere)
        #expect(try await client.all() == [])
    }

    @Test func `what came between a reader's last look and its entering is rung for`() async throws {
        var rings = 0
        journals.add()
        _ = try await follow(Client(), from: "1") { rings += 1 }
        #expect(rings == 0)
        _ = try await follow(Client(), from: "0") { rings += 1 }
        #expect(rings == 1)
    }

    @Test func `a client that does not take what it was sent is sent no more, and nothing is left out`() async throws {
        let (quick, slow) = (Client(), Client())
        let places = try await following([quick, slow]) { () async throws in
            journals.add()
            await readers.sendAll()
            #expect(try await slow.all() == ["1\n"])
            slow.takes.withLock { $0 = false }
            journals.add()
            await readers.sendAll()
            #expect(try await slow.all() == ["1\n"])
            slow.takes.withLock { $0 = true }
            journals.add()
            await readers.sendAll()
        }
        #expect(try await slow.all() == ["1\n"])
        #expect(try await quick.all() == ["1\n", "2\n", "3\n"])
        #expect(places.map(\.position) == [EventCursor(3), EventCursor(1)])
        #expect(places.map(\.isBehind) == [false, true])
    }

    @Test func `a reader of one enrollment is sent its events, and learns of the others' later`() async throws {
        let client = Client()
        let places = try await following([client], of: enrollments[0]) { () async throws in
            journals.add()
            await readers.sendAll()
            #expect(try await client.all() == [])
            journals.add()
            await readers.sendAll()
            #expect(try await client.all() == ["2\n"])
            journals.add()
            await readers.sendAll()
        }
        #expect(try await client.all() == ["2\n"])
        #expect(places.map(\.position) == [EventCursor(3)] && places.map(\.isKnown) == [false])
    }

    @Test func `a reader behind the others waits for a look, and then looks itself`() async throws {
        for _ in 1...2 { journals.add() }
        _ = try await following([Client()], from: EventCursor(2)) { () async throws in
            let behind = try await wait(from: "1")
            #expect(behind.isBehind && behind.position == EventCursor(1))
            let level = try await follow(Client(), from: "2")
            #expect(!level.isBehind)
        }
    }

    @Test func `a reader ahead of the others is sent nothing twice, and they are brought to where it is`() async throws
    {
        for _ in 1...3 { journals.add("beta") }
        let (first, ahead) = (Client(), Client())
        _ = try await following([first], from: try #require(EventCursor("beta:1"))) { () async throws in
            var rings = 0
            _ = try await follow(Client(), from: "beta:3") { rings += 1 }
            #expect(rings == 1)
            _ = try await following([ahead], from: try #require(EventCursor("beta:3"))) { () async throws in
                await readers.sendAll()
                #expect(try await first.all() == ["beta2\nbeta3\n"])
                #expect(try await ahead.all() == [])
                journals.add("alpha")
                await readers.sendAll()
                #expect(try await first.all() == ["beta2\nbeta3\n", "alpha1\n"])
                #expect(try await ahead.all() == ["alpha1\n"])
            }
        }
    }

    @Test func `a reader that is not where the page begins looks itself, so that its cursors are its own`() async throws
    {
        for _ in 1...3 { journals.add("beta") }
        let ahead = Client()
        _ = try await following([Client()], from: try #require(EventCursor("beta:1"))) { () async throws in
            let places = try await following([ahead], from: try #require(EventCursor("beta:3"))) { () async throws in
                journals.add("alpha")
                await readers.sendAll()
            }
            #expect(places.map(\.isBehind) == [true] && places.map(\.position.text) == ["beta:3"])
        }
        #expect(try await ahead.all() == [])
    }

    @Test func `when the only chain gets a name, a look brings those who have it and those who have not together`()
        async throws
    {
        for _ in 1...3 { journals.add() }
        let client = Client()
        let places = try await following([client], from: EventCursor(3)) { () async throws in
            journals.name("alpha")
            let behind = try await wait(from: "alpha:3")
            #expect(behind.isBehind)
            let level = try await follow(Client(), from: "alpha:3") { Issue.record("there is nothing to look for") }
            #expect(!level.isBehind)
        }
        #expect(places.map(\.position.text) == ["alpha:3"] && places.map(\.isKnown) == [false])
        #expect(try await client.all() == [])
    }

    @Test func `if the store cannot be read, all who follow have to look themselves`() async throws {
        let client = Client()
        let places = try await following([client]) { () async throws in
            journals.isBroken.withLock { $0 = true }
            journals.add()
            await readers.sendAll()
            while readers.areThere { await Task.yield() }
        }
        #expect(places.map(\.isBehind) == [true] && places.map(\.position) == [.beginning])
    }

    @Test func `a page from before a reader came back is not sent past what it has read`() async throws {
        let client = Client()
        let reader = EventReader(client, of: nil)
        for _ in 1...4 { journals.add() }
        let page = try journals.events(after: EventCursor(3))
        let place = try await readers.follow(reader, from: EventCursor(1), ringing: {}) { _ in
            reader.send(page)
            return Alarm {}
        }
        #expect(place.isBehind && place.position == EventCursor(1))
        #expect(try await client.all() == [])
    }

    @Test func `a reader that was ended waits no longer, and not the next time either`() async throws {
        let reader = EventReader(Client(), of: nil)
        reader.finish()
        for _ in 1...2 {
            await #expect(throws: CancellationError.self) {
                try await readers.follow(reader, from: .beginning, ringing: {}) { _ in Alarm {} }
            }
        }
        #expect(!readers.areThere)
    }
}
