import FoundationEssentials
import IssuerProtocol
import ScratchDirectories
import StoreTables
import TestStores
import Testing
import ThreeDS

@testable import Authenticator
@testable import Journal
@testable import Records

/// Expired rows are deleted in small steps; what a person wants erased is erased at once.
@Suite(.timeLimit(.minutes(20)))
struct DataRetentionTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func isInFiles(_ text: String) -> Bool { isInFiles(Array(text.utf8)) }

    private func isInFiles(_ bytes: [UInt8]) -> Bool {
        ["", "-wal", "-shm"].contains { suffix in
            let file = FileManager.default.contents(atPath: "\(sample.directory.path)/store.sqlite\(suffix)") ?? Data()
            return [UInt8](file).firstRange(of: bytes) != nil
        }
    }

    /// The key under which an enrollment's personal data is encrypted, as the store has it.
    private func dataKey(of card: SampleEnrollment) async throws -> [UInt8] {
        let keys = try await sample.store.read { try $0.dataKeys(after: nil, limit: 9) }
        return try #require(keys.first { $0.enrollmentId == card.id }).sealed
    }

    /// Receives requests that are over when this returns.
    private func receiveExpired(_ count: Int, for card: SampleEnrollment) async throws {
        let messages = try (1...count).map { try sample.message(.numbered($0), for: card) }
        try await sample.receive(messages: messages, for: card)
        sample.clock.advance(by: 600)
        try await sample.running([sample.agent.expiryService.run]) {
            try await sample.eventually { try $0.pendingCount(enrollment: nil) == 0 ? () : nil }
        }
    }

    @Test func `a request that is over is there for 400 days, and gone a day later`() async throws {
        let card = try await sample.enrolled()
        try await receiveExpired(1, for: card)
        sample.clock.advance(by: 400 * 86_400)
        try await sample.running([sample.agent.dataRetention.run]) {
            try await sample.clock.sleepers()
            #expect(try await sample.requests().count == 1)
            #expect(try await sample.clock.wakeNext() == 86_400)
            try await sample.clock.sleepers()
            #expect(try await sample.requests().isEmpty)
        }
    }

    @Test func `what is undecided or not delivered stays, however old`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try await sample.approve(sample.requests()[0].id)
        sample.clock.advance(by: 1_000 * 86_400)
        try await sample.running([sample.agent.dataRetention.run]) { try await sample.clock.sleepers() }
        #expect(try await sample.requests().map(\.life.state) == [.approved, .pending])
        #expect(try await sample.outbox(of: card).count == 1)
    }

    @Test func `the retention is never shorter than a message can live`() async throws {
        let sample = try SampleAgent(AgentSettings(retention: 0, version: "1"))
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.decide(.deny(.userDenied), sample.onlyRequest().id)
        try await sample.running([sample.agent.outboxDelivery.run]) {
            try await sample.eventually { try $0.outboxCount(enrollment: nil) == 0 ? () : nil }
        }
        sample.clock.advance(by: 2 * 86_400 + 600)
        try await sample.running([sample.agent.dataRetention.run]) {
            try await sample.clock.sleepers()
            #expect(try await sample.requests().count == 1)
            try await sample.clock.wakeNext()
            try await sample.clock.sleepers()
            #expect(try await sample.requests().isEmpty)
        }
    }

    @Test func `a decision that is made while much is removed waits for one step at most`() async throws {
        let card = try await sample.enrolled()
        try await receiveExpired(DataRetention.step * 4 + 1, for: card)
        sample.clock.advance(by: 401 * 86_400)
        try await sample.receive(
            SampleRequest(jti: "now", iat: sample.now - SampleAgent.start, exp: sample.now - SampleAgent.start + 600),
            for: card)
        let request = try #require(try await sample.requests().last)
        await sample.agent.signCountWatch.ensureChecked(card.id)
        let writes = try #require(sample.agent.ports.store as? JournaledStore).writes
        let (steps, isDecided) = (Box(0), Box(false))
        let (wanted, decided) = (Channel<Void>(), Channel<Void>())
        // It is made while the second step begins, and is in the next database transaction, before the fourth.
        sample.store.beforeWriting { [sample] in
            switch steps.next() {
            case 2:
                wanted.send(())
                while writes.waitingCount == 0 { await Task.yield() }
            case 4:
                isDecided.set(try await sample.requests().last?.life.state == .approved)
            default:
                break
            }
        }
        let approval: @Sendable () async throws -> Void = { [sample] in
            try await wanted.next()
            _ = try await sample.approve(request.id)
            decided.send(())
        }
        try await sample.running([sample.agent.dataRetention.run, approval]) {
            try await decided.next()
            // Until it rests for a day: the decision waits on the clock too.
            while try await sample.clock.naps.next() != 86_400 {}
        }
        #expect(isDecided.value)
        #expect(try await sample.requests().map(\.life) == [RequestLife(state: .approved, delivery: .queued)])
    }

    @Test func `when the store recovers it goes on by itself`() async throws {
        let card = try await sample.enrolled()
        try await receiveExpired(1, for: card)
        sample.clock.advance(by: 401 * 86_400)
        sample.store.breakWrites()
        try await sample.running([sample.agent.dataRetention.run, sample.agent.storeWatch.run]) {
            // The store's watch tries it again in a moment.
            try await sample.clock.sleepers()
            sample.store.breakWrites(false)
            #expect(try await sample.clock.wakeNext() == StoreWatch.pause)
            try await sample.clock.sleepers()
        }
        #expect(try await sample.requests().isEmpty)
    }

    // MARK: Erasing

    private func unenroll(_ card: SampleEnrollment, erasing: Bool = true) async throws -> Unenrollment {
        try await sample.agent.unenroll(card.id, locally: true, forced: true, erasing: erasing)
    }

    @Test(.ofSQLite) func `erasing leaves no key to what the files have of the enrollment, and all of another's`()
        async throws
    {
        let (card, other) = (
            try await sample.enrolled(called: "ERASED card"), try await sample.enrolled("other", called: "KEPT card")
        )
        var mine = SampleRequest.numbered(1)
        mine.merchantName = "ERASED shop"
        var theirs = SampleRequest.numbered(2)
        theirs.merchantName = "KEPT shop"
        let message = try sample.message(mine, for: card)
        let signature = String(message.suffix(60))
        try await sample.receive(messages: [message], for: card)
        try await sample.receive(theirs, for: other)
        let (key, kept) = (try await dataKey(of: card), try await dataKey(of: other))
        #expect(isInFiles(key) && isInFiles(kept))
        let ended = try await sample.running([sample.agent.dataRetention.run]) { try await unenroll(card) }
        #expect(ended == Unenrollment(wasEnrolled: true, isErased: true))
        #expect(!isInFiles(key) && isInFiles(kept))
        for text in ["ERASED", signature, "KEPT"] { #expect(!isInFiles(text), "nothing is ever written in clear") }
        #expect(try await sample.requests().last?.presented?.transaction.merchantName == "KEPT shop")
        #expect(try await sample.enrollment(other.id).name == "KEPT card")
        let record = try #require(try await sample.requests().first)
        #expect(record.jti.text == "request-1" && record.life == .cancelled && record.presented == nil)
        #expect(isInFiles("2f37539c-d82e-4929-88db-000000000001"))
    }

    @Test func `one that is over already is erased as well, and a second time nothing happens`() async throws {
        let card = try await sample.enrolled()
        let key = try await dataKey(of: card)
        #expect(try await unenroll(card, erasing: false) == Unenrollment(wasEnrolled: true, isErased: nil))
        try await sample.running([sample.agent.dataRetention.run]) {
            let again = [try await unenroll(card), try await unenroll(card)]
            #expect(again == Array(repeating: Unenrollment(wasEnrolled: false, isErased: true), count: 2))
        }
        #expect(try await sample.journal().map(\.kind).filter { $0 == .erased }.count == 1)
        #expect(!isInFiles(key))
    }

    @Test func `if it cannot be done now it says so, and is done later`() async throws {
        let card = try await sample.enrolled()
        let key = try await dataKey(of: card)
        sample.store.breakScrub(by: SampleError("the log cannot be emptied"))
        try await sample.running([sample.agent.dataRetention.run]) {
            async let ended = unenroll(card)
            // The housekeeper's pause after the failure, and the caller's patience.
            try await sample.clock.sleepers(2)
            sample.clock.advance(by: 59)
            sample.store.breakScrub(by: nil)
            sample.clock.advance(by: 1)
            _ = try await ended
            try await sample.eventually { try $0.isErased(card.id) ? () : nil }
        }
        #expect(!isInFiles(key))
    }

    @Test func `if a small write succeeds and there is no room to empty the log that is tried once a minute`()
        async throws
    {
        let card = try await sample.enrolled()
        async let ended = unenroll(card)
        try await sample.clock.sleepers()
        sample.clock.advance(by: 60)
        #expect(try await ended.isErased == false)
        sample.store.breakScrub(by: StoreError(.full, at: "the test's store"))
        try await sample.running([sample.agent.dataRetention.run, sample.agent.storeWatch.run]) {
            // Its own, after those of the store's watch; one that tries without end has none.
            var pauses: [Double] = []
            while pauses.last != 60, pauses.count < 5 { pauses.append(try await sample.clock.wakeNext()) }
            #expect(pauses.last == 60 && pauses.count < 3)
            sample.store.breakScrub(by: nil)
            while try await !sample.agent.ports.store.read({ try $0.isErased(card.id) }) {
                try await sample.clock.wakeNext()
            }
        }
    }

    @Test(.ofSQLite) func `an erasure that a crash cut off is finished by the next start`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let key = try await dataKey(of: card)
        async let ended = unenroll(card)
        try await sample.clock.sleepers()
        sample.clock.advance(by: 60)
        #expect(try await ended == Unenrollment(wasEnrolled: true, isErased: false))
        #expect(isInFiles(key))
        let later = try sample.restarted()
        try await later.running([later.agent.dataRetention.run]) {
            try await later.eventually { try $0.isErased(card.id) ? () : nil }
        }
        #expect(!isInFiles(key))
    }

    @Test(.ofSQLite) func `an enrollment that goes on is not erased`() async throws {
        let card = try await sample.enrolled(called: "KEPT card")
        try await sample.receive(SampleRequest(), for: card)
        await sample.issuer.onUnenrollment { () throws(IssuerError) in throw .down }
        let code = try await failureCode {
            _ = try await sample.agent.unenroll(card.id, locally: false, forced: false, erasing: true)
        }
        #expect(code == .issuerUnreachable)
        try await sample.running([sample.agent.dataRetention.run]) { try await sample.clock.sleepers() }
        #expect(try await sample.onlyRequest().presented != nil)
        #expect(isInFiles(try await dataKey(of: card)))
    }

    @Test(.ofSQLite) func `while someone else reads the file an erasure waits, and decisions go on`() async throws {
        let (card, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        let key = try await dataKey(of: card)
        try await sample.receive(.numbered(1), for: other)
        let reader = try sample.reader()
        try await sample.running([sample.agent.dataRetention.run]) {
            async let ended = unenroll(card)
            // The housekeeper's pause of five seconds after it found the reader, and the caller's patience.
            try await sample.clock.sleepers(2)
            #expect(isInFiles(key))
            let id = try #require(try await sample.requests().last).id
            #expect(try await sample.approve(id).life.state == .approved)
            try reader.close()
            sample.clock.advance(by: 5)
            #expect(try await ended == Unenrollment(wasEnrolled: true, isErased: true), "in time for the caller")
        }
        #expect(!isInFiles(key))
    }
}
