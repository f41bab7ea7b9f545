import Authenticator
import GRDB
import IssuerProtocol
import Testing

@testable import Storage

/// The cost of a look-up does not grow with history.
struct QueryPlanTests {
    /// A look-up, by the name that a failure shows.
    struct LookUp: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (any BookReader, EnrollmentID, TokenID) throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (any BookReader, EnrollmentID, TokenID) throws -> Void) {
            testDescription = name
            self.run = run
        }
    }

    /// Those that may read all that is pending or waits, but never what is over.
    static let ofWhatIsOpen = [
        LookUp("pending of all") { book, _, _ in _ = try book.requests(pendingOnly: true, enrollment: nil, limit: 9) },
        LookUp("pending of all after one") { book, _, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try book.requests(pendingOnly: true, enrollment: nil, page: RequestPage(after: id), limit: 9)
        },
        LookUp("oldest pending") { book, _, _ in _ = try book.oldestPending(enrollment: nil) },
        LookUp("pending count") { book, _, _ in _ = try book.pendingCount(enrollment: nil) },
        LookUp("next deadline") { book, _, _ in _ = try book.nextDeadline() },
        LookUp("outbox enrollments") { book, _, _ in _ = try book.outboxEnrollments() },
        LookUp("to erase") { book, _, _ in _ = try book.enrollmentsToErase() },
        LookUp("outbox count") { book, _, _ in _ = try book.outboxCount(enrollment: nil) },
    ]

    /// Those that find their row or range by an index alone.
    static let byIndex = [
        LookUp("request") { book, _, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try book.request(id)
        },
        LookUp("of one enrollment") { book, id, _ in
            _ = try book.requests(pendingOnly: false, enrollment: id, limit: 9)
        },
        LookUp("pending of one enrollment") { book, id, _ in
            _ = try book.requests(pendingOnly: true, enrollment: id, limit: 9)
        },
        LookUp("all before one") { book, _, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try book.requests(pendingOnly: false, enrollment: nil, page: RequestPage(before: id), limit: 9)
        },
        LookUp("of one enrollment before one") { book, enrollment, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try book.requests(pendingOnly: false, enrollment: enrollment, page: RequestPage(before: id), limit: 9)
        },
        LookUp("oldest pending of one enrollment") { book, id, _ in _ = try book.oldestPending(enrollment: id) },
        LookUp("prefix") { book, id, _ in _ = try book.requests(prefix: "abc", enrollment: id, limit: 9) },
        LookUp("newest presented") { book, id, _ in _ = try book.newestPresented(enrollment: id, acsTransId: "x") },
        LookUp("pending count of one enrollment") { book, id, _ in _ = try book.pendingCount(enrollment: id) },
        LookUp("never presented of one enrollment") { book, id, _ in
            _ = try book.unpresentedCount(enrollment: id, since: 1)
        },
        LookUp("messages of one enrollment") { book, id, _ in _ = try book.messageCount(enrollment: id, since: 1) },
        LookUp("cancellations of one enrollment") { book, id, _ in _ = try book.cancellationCount(enrollment: id) },
        LookUp("due") { book, _, _ in _ = try book.duePending(now: 1, limit: 9) },
        LookUp("message") { book, id, jti in _ = try book.message(enrollment: id, jti: jti) },
        LookUp("cancellation") { book, id, jti in _ = try book.cancellation(enrollment: id, of: jti) },
        LookUp("approvals' head") { book, id, _ in _ = try book.outboxHead(enrollment: id, lane: .approvals) },
        LookUp("denials' head") { book, id, _ in _ = try book.outboxHead(enrollment: id, lane: .denials) },
        LookUp("outbox of one enrollment") { book, id, _ in _ = try book.outbox(enrollment: id) },
        LookUp("outbox count of one enrollment") { book, id, _ in _ = try book.outboxCount(enrollment: id) },
        LookUp("enrollment") { book, id, _ in _ = try book.enrollment(id) },
        LookUp("tries of a key's PIN") { book, _, _ in
            guard let key = KeyIdentity(octets: Array(repeating: 1, count: 32)) else { throw SampleError("no key") }
            _ = try book.pinTries(of: key)
        },
        LookUp("journal") { book, _, _ in _ = try book.journal(after: 1, limit: 9) },
        LookUp("journal's head") { book, _, _ in _ = try book.journalMark(.head) },
        LookUp("end of the journal's old entries") { book, _, _ in
            try (book as? any BookWriter)?.removeJournal(through: 1)
        },
        LookUp("what was over") { book, _, _ in
            _ = try (book as? any BookWriter)?.removeWhatWasOver(before: 1, limit: 9)
        },
        LookUp("erased") { book, id, _ in _ = try book.isErased(id) },
        LookUp("next to erase") { book, id, _ in
            _ = try (book as? any BookWriter)?.eraseRequests(of: id, after: 5, limit: 9)
        },
    ]

    /// SQLite's plan for each statement that a look-up runs.
    private func plan(_ lookUp: LookUp) throws -> [String] {
        let sample = try SampleBook()
        return try sample.raw { database in
            let statements = Statements()
            database.trace { statements.sql.append("\($0)") }
            let id = try SampleBook.enrollment("a").id
            guard let jti = TokenID("jti") else { throw SampleError("no jti") }
            try lookUp.run(Pages(database: database, sealing: Sealing(seals: NoRowSeals())), id, jti)
            database.trace(options: [])
            return try statements.sql.flatMap { sql in
                let statement = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
                // A plan does not depend on the arguments.
                statement.setUncheckedArguments(StatementArguments())
                return try Row.fetchAll(statement).map { $0["detail"] as String }
            }
        }
    }

    private final class Statements {
        var sql: [String] = []
    }

    @Test(arguments: byIndex)
    func `an index finds it`(lookUp: LookUp) throws {
        let plan = try plan(lookUp)
        #expect(plan.contains { $0.hasPrefix("SEARCH") })
        #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
    }

    @Test func `messages of a day are counted without a look at older ones`() throws {
        let plan = try plan(
            LookUp("messages") { book, id, _ in _ = try book.messageCount(enrollment: id, since: 1) })
        #expect(
            plan == ["SEARCH message USING COVERING INDEX message_of_enrollment (enrollment_id=? AND seen_at>?)"])
    }

    @Test(arguments: ofWhatIsOpen)
    func `only what is open is read`(lookUp: LookUp) throws {
        let plan = try plan(lookUp)
        #expect(!plan.isEmpty)
        let scans = plan.filter { $0.hasPrefix("SCAN") }
        let open = ["INDEX request_pending", "SCAN outbox USING", "INDEX enrollment_to_erase"]
        let areOpen = scans.allSatisfy { scan in open.contains { scan.contains($0) } }
        #expect(areOpen, "\(plan)")
    }
}
