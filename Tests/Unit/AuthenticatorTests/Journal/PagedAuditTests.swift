import Keys
import StoreTables
import TableRows
import Testing
import TextAndTime

@testable import Authenticator
@testable import Journal
@testable import Records

/// The rows are held against the journal a page at a time, while others write.
@Suite(.timeLimit(.minutes(20)))
struct PagedAuditTests {
    private let sample: SampleAgent

    init() async throws {
        sample = try SampleAgent()
        try await sample.agent.prepare()
    }

    private func fault(page: Int) async throws -> JournalError? {
        try await JournalAudit(store: sample.agent.journal.store, page: page).verify().fault
    }

    /// Does something before each look of the audit that follows, with the number of the look.
    private func beforeLooks(_ action: @escaping @Sendable (Int) async throws -> Void) {
        let (looks, isActing) = (Box(0), Box(false))
        sample.store.beforeReading {
            guard !isActing.value else { return }
            isActing.set(true)
            defer { isActing.set(false) }
            try await action(looks.next())
        }
    }

    @Test(arguments: [1, 2, 3, 100])
    func `a row that is not as it was written is found in whatever page it is`(page: Int) async throws {
        var cards: [SampleEnrollment] = []
        for name in ["a", "b", "c", "d"] { cards.append(try await sample.enrolled(name)) }
        #expect(try await fault(page: page) == nil)
        for card in cards {
            try sample.tamper("UPDATE enrollment SET sign_count = sign_count + 1 WHERE id = ?", [card.id.text])
            #expect(try await fault(page: page)?.problem.contains("does not vouch for enrollment \(card.id)") == true)
            try sample.tamper("UPDATE enrollment SET sign_count = sign_count - 1 WHERE id = ?", [card.id.text])
        }
    }

    @Test func `an audit that is no longer wanted ends in the middle of the rows`() async throws {
        _ = try await sample.enrolled()
        #expect(try await fault(page: 10) == nil)
        let looks = Box(0)
        beforeLooks { looks.set($0) }
        #expect(try await fault(page: 10) == nil)
        let last = looks.value
        let reached = Channel<Void>()
        let audit = Task { try await fault(page: 10) }
        beforeLooks { look in
            guard look == last else { return }
            reached.send(())
            while !Task.isCancelled { await Task.yield() }
        }
        try await reached.next()
        audit.cancel()
        await #expect(throws: CancellationError.self) { _ = try await audit.value }
    }

    @Test func `a look at all rows that is no longer wanted ends in the middle of them`() async throws {
        _ = try await sample.enrolled()
        let store = sample.agent.journal.store
        let (held, begun) = (Box<Task<RowSurvey, any Error>?>(nil), Channel<Void>())
        let survey = Task {
            try await begun.next()
            // Before the first row is read, and in the same database transaction.
            return try await store.surveyRows { _ in held.value?.cancel() }
        }
        held.set(survey)
        begun.send(())
        await #expect(throws: CancellationError.self) { _ = try await survey.value }
    }

    @Test func `rows that change while others are read are no fault`() async throws {
        var (cards, requests): ([SampleEnrollment], [RequestID]) = ([], [])
        for number in 1...12 {
            let card = try await sample.enrolled("\(number)")
            try await sample.receive(.numbered(number), for: card)
            cards.append(card)
            requests.append(try #require(try await sample.requests().last).id)
        }
        let (all, each, done) = (cards, requests, Box(0))
        // Each is approved just before its page is read, and the one before it ends behind that.
        beforeLooks { look in
            let number = look - 3
            guard all.indices.contains(number) else { return }
            try await sample.approve(each[number])
            if number > 0 { _ = try await sample.agent.unenroll(all[number - 1].id, locally: true, forced: true) }
            _ = done.next()
        }
        #expect(try await fault(page: 1) == nil)
        #expect(done.value >= 8)
    }

    @Test func `more entries than a batch between two pages are followed before the next page`() async throws {
        _ = try await sample.enrolled("first")
        let card = try await sample.enrolled("second")
        // So the journal has a signCount of it, and the row's later one is more than that.
        try await sample.receive(.numbered(1), for: card)
        try await sample.approve(try await sample.onlyRequest().id)
        try await sample.receive(.numbered(2), for: card)
        let request = try #require(try await sample.requests().last).id
        let before = try await sample.journal().count
        // The fourth look is the one at the second row.
        beforeLooks { look in
            guard look == 4 else { return }
            try await sample.write(entries: 1_200)
            try await sample.approve(request)
        }
        let verdict = try await JournalAudit(store: sample.agent.journal.store, page: 1).verify()
        #expect(verdict.fault == nil)
        #expect(verdict.count > before + 1_200)
    }

    @Test func `no enrollment is left out if the last of a page is removed before the next is read`() async throws {
        let first = try await sample.enrolled("first")
        let last = try await sample.enrolled("last")
        _ = try await sample.agent.unenroll(first.id, locally: true, forced: true)
        try sample.tamper("UPDATE enrollment SET sign_count = 7 WHERE id = ?", [last.id.text])
        let removed = Box(0)
        beforeLooks { look in
            guard look == 4 else { return }
            removed.set(try await sample.store.real.write { try $0.removeWhatWasOver(before: .max, limit: 100) })
        }
        #expect(try await fault(page: 1)?.problem.contains("does not vouch for enrollment \(last.id)") == true)
        #expect(removed.value > 0)
    }

    @Test func `what was cut off while it reads is found`() async throws {
        for name in ["a", "b", "c"] { _ = try await sample.enrolled(name) }
        let early = try #require(try await sample.store.real.read { try $0.journalMark(.head) })
        try await sample.write(entries: 3)
        beforeLooks { look in
            guard look == 4 else { return }
            try sample.tamper("DELETE FROM journal WHERE seq > ?", [early.point.sequence])
            try await sample.store.real.write { try $0.set(early, as: .head) }
        }
        let fault = try #require(try await fault(page: 1))
        #expect(fault.sequence == early.point.sequence + 1 && fault.problem.hasPrefix("is missing"))
    }

    @Test(arguments: [1, 2, 3, 100])
    func `a move tells of all rows, a page at a time, and of none in memory`(page: Int) async throws {
        for name in ["a", "b", "c", "d"] { _ = try await sample.enrolled(name) }
        let ended = try await sample.enrolled("ended")
        _ = try await sample.agent.unenroll(ended.id, locally: true, forced: true)
        let (keys, now) = (sample.ports.auditKeys, sample.now)
        let noted = try await sample.store.real.write { store in
            try store.recordMove(keys: keys, page: page, at: now)
            return store.newEntries.count
        }
        #expect(noted == 0)
        let again = try sample.restarted()
        #expect(try await again.agent.journal.verify().fault == nil)
        let moved = try await again.journal().compactMap(MovedRows.init)
        #expect(moved.map(\.part) == Array(1...Int64((5 + page - 1) / page)))
        #expect(moved.flatMap(\.enrollments).count == 5 && moved.flatMap(\.ended) == [ended.id])
    }

    @Test func `a number of each of very many enrollments is kept, and no other`() throws {
        var numbers = CompactNumbers<EnrollmentID>()
        let ids = try (0..<2_000).map { number in
            let digest = try SHA256Digest.of(Array("\(number)".utf8))
            return try #require(EnrollmentID(Hexadecimal.text(Array(digest[..<10]))))
        }
        for (number, id) in ids.enumerated() { numbers[id] = UInt64(number) }
        for (number, id) in ids.enumerated() { #expect(numbers[id] == UInt64(number)) }
        for place in 0..<20 {
            // Each digit counts.
            var digits = Array(ids[0].text)
            digits[place] = digits[place] == "f" ? "0" : "f"
            #expect(numbers[try #require(EnrollmentID(String(digits)))] == nil)
        }
    }
}
