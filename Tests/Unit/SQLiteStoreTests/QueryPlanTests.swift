import GRDB
import IssuerProtocol
import Records
import TestStores
import Testing

@testable import SQLiteStore
@testable import StoreTables

/// The cost of a look-up does not grow with history.
struct QueryPlanTests {
    /// A look-up, by the name that a failure shows.
    struct LookUp: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (StoreTransaction, EnrollmentID, TokenID) throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (StoreTransaction, EnrollmentID, TokenID) throws -> Void) {
            testDescription = name
            self.run = run
        }
    }

    /// Those that may read all that is pending or waits, but never what is over.
    static let ofWhatIsOpen = [
        LookUp("pending of all") { store, _, _ in _ = try store.requests(pendingOnly: true, enrollment: nil, limit: 9)
        },
        LookUp("pending of all after one") { store, _, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try store.requests(pendingOnly: true, enrollment: nil, page: RequestPage(after: id), limit: 9)
        },
        LookUp("oldest pending") { store, _, _ in _ = try store.oldestPending(enrollment: nil) },
        LookUp("pending count") { store, _, _ in _ = try store.pendingCount(enrollment: nil) },
        LookUp("next deadline") { store, _, _ in _ = try store.nextDeadline() },
        LookUp("outbox enrollments") { store, _, _ in _ = try store.outboxEnrollments() },
        LookUp("registrations without an answer") { store, _, _ in
            _ = try store.enrollmentIDs(enrollingStartedBy: 1)
        },
        LookUp("to erase") { store, _, _ in _ = try store.enrollmentsToErase() },
        LookUp("enrollments of external keys") { store, _, _ in _ = try store.enrollmentsOfExternalKeys() },
        LookUp("troubled enrollments") { store, _, _ in _ = try EnrollmentHealth(store).troubled(among: [], limit: 9) },
        LookUp("enrollments with a push subscription") { store, _, _ in _ = try store.enrollmentIDs(at: .subscribed) },
        LookUp("enrollment tally") { store, _, _ in _ = try EnrollmentHealth(store).tally() },
        LookUp("enrollments of these ids") { store, id, _ in _ = try store.enrollmentIDs(among: [id]) },
        LookUp("weak enrollments") { store, _, _ in _ = try EnrollmentHealth(store).weak(limit: 9) },
        LookUp("enrollment count") { store, _, _ in _ = try store.enrollmentCount() },
        LookUp("outbox count") { store, _, _ in _ = try store.outboxCount(enrollment: nil) },
    ]

    /// Those that find their row or range by an index alone.
    static let byIndex = [
        LookUp("request") { store, _, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try store.request(id)
        },
        LookUp("of one enrollment") { store, id, _ in
            _ = try store.requests(pendingOnly: false, enrollment: id, limit: 9)
        },
        LookUp("pending of one enrollment") { store, id, _ in
            _ = try store.requests(pendingOnly: true, enrollment: id, limit: 9)
        },
        LookUp("all before one") { store, _, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try store.requests(pendingOnly: false, enrollment: nil, page: RequestPage(before: id), limit: 9)
        },
        LookUp("of one enrollment before one") { store, enrollment, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try store.requests(pendingOnly: false, enrollment: enrollment, page: RequestPage(before: id), limit: 9)
        },
        LookUp("oldest pending of one enrollment") { store, id, _ in _ = try store.oldestPending(enrollment: id) },
        LookUp("prefix") { store, id, _ in _ = try store.requests(prefix: "abc", enrollment: id, limit: 9) },
        LookUp("newest presented") { store, id, _ in _ = try store.newestPresented(enrollment: id, acsTransId: "x") },
        LookUp("pending count of one enrollment") { store, id, _ in _ = try store.pendingCount(enrollment: id) },
        LookUp("never presented of one enrollment") { store, id, _ in
            _ = try store.unpresentedCount(enrollment: id, since: 1, until: .max)
        },
        LookUp("messages of one enrollment") { store, id, _ in
            _ = try store.storedTally(of: id, since: 1, until: .max)
        },
        LookUp("cancellations of one enrollment") { store, id, _ in
            _ = try store.cancellationCount(enrollment: id, after: 0)
        },
        LookUp("due") { store, _, _ in _ = try store.duePending(now: 1, limit: 9) },
        LookUp("message") { store, id, jti in _ = try store.message(enrollment: id, jti: jti) },
        LookUp("cancellation") { store, id, jti in _ = try store.cancellation(enrollment: id, of: jti) },
        LookUp("approvals' head") { store, id, _ in _ = try store.outboxHead(enrollment: id, queue: .approvals) },
        LookUp("denials' head") { store, id, _ in _ = try store.outboxHead(enrollment: id, queue: .denials) },
        LookUp("outbox of one enrollment") { store, id, _ in _ = try store.outbox(enrollment: id) },
        LookUp("outbox count of one enrollment") { store, id, _ in _ = try store.outboxCount(enrollment: id) },
        LookUp("enrollment") { store, id, _ in _ = try store.enrollment(id) },
        LookUp("tries of a key's PIN") { store, _, _ in
            guard let key = KeyIdentity(bytes: Array(repeating: 1, count: 32)) else { throw SampleError("no key") }
            _ = try store.pinTries(of: key)
        },
        LookUp("enrollments of a name") { store, _, _ in
            _ = try store.enrollments(named: "n", includingEnded: true, limit: 5)
        },
        LookUp("enrollments that begin so") { store, _, _ in
            _ = try store.enrollments(beginning: "a", includingEnded: true, limit: 5)
        },
        LookUp("outbox enrollments after one") { store, id, _ in
            _ = try store.outboxEnrollments(in: .approvals, after: id, limit: 9)
            _ = try store.outboxEnrollments(in: .denials, after: id, limit: 9)
        },
        LookUp("standings before a place") { store, _, _ in _ = try store.standings(before: 1_000, limit: 9) },
        LookUp("enrollments after one") { store, id, _ in _ = try store.enrollments(after: id, limit: 9) },
        LookUp("active enrollments") { store, _, _ in _ = try store.enrollmentIDs(at: .active) },
        LookUp("name taken") { store, _, _ in _ = try store.isNameTaken("n") },
        LookUp("enrollment of a credential") { store, _, _ in _ = try store.enrollment(credentialId: [1]) },
        LookUp("prefix of all") { store, _, _ in _ = try store.requests(prefix: "abc", enrollment: nil, limit: 9) },
        LookUp("journal") { store, _, _ in _ = try store.journal(after: 1, limit: 9) },
        LookUp("checkpoint") { store, _, _ in _ = try store.checkpoint(at: 256) },
        LookUp("checkpoints of a request") { store, _, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try store.checkpoints(of: id)
        },
        LookUp("evidence") { store, _, _ in
            guard let id = RequestID("00000000000000000001") else { throw SampleError("no id") }
            _ = try store.evidence(of: id)
        },
        LookUp("journal's head") { store, _, _ in _ = try store.journalMark(.head) },
        LookUp("end of the journal's old entries") { store, _, _ in
            try store.removeJournal(through: 1)
        },
        LookUp("what was over") { store, _, _ in
            _ = try store.removeWhatWasOver(before: 1, limit: 9)
        },
        LookUp("what was never shown") { store, _, _ in
            _ = try store.removeWhatWasNeverShown(before: 1, limit: 9)
        },
        LookUp("erased") { store, id, _ in _ = try store.isErased(id) },
        LookUp("next to erase") { store, id, _ in
            _ = try store.eraseRequests(of: id, after: 5, limit: 9)
        },
    ]

    /// SQLite's plan for each statement that a look-up runs.
    private func plan(_ lookUp: LookUp) throws -> [String] {
        let sample = try SampleStore()
        return try sample.raw { database in
            let statements = Statements()
            database.trace { statements.sql.append("\($0)") }
            let id = try SampleStore.enrollment("a").id
            guard let jti = TokenID("jti") else { throw SampleError("no jti") }
            try lookUp.run(
                StoreTransaction(
                    database: database, sealing: Sealing(seals: NoRowSeals(), dataKeys: UnsealedDataKeys()),
                    written: Written()), id, jti)
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
        // A subquery that is scanned is named besides with how it finds its rows.
        let scans = plan.filter { $0.hasPrefix("SCAN") && !plan.contains("CO-ROUTINE \($0.dropFirst(5))") }
        #expect(scans.isEmpty, "\(plan)")
    }

    @Test func `messages of a day, and bytes, are counted without a look at older ones`() throws {
        let plan = try plan(
            LookUp("messages") { store, id, _ in _ = try store.storedTally(of: id, since: 1, until: .max) })
        #expect(
            plan.filter { !$0.hasPrefix("SCALAR SUBQUERY") } == [
                "SEARCH message_tally USING PRIMARY KEY (enrollment_id=? AND slot>? AND slot<?)",
                "SEARCH stored_bytes USING PRIMARY KEY (owner=?)", "SEARCH stored_bytes USING PRIMARY KEY (owner=?)",
                "SEARCH enrollment USING INDEX sqlite_autoindex_enrollment_1 (id=?)",
            ])
    }

    @Test(arguments: ofWhatIsOpen)
    func `only what is open is read`(lookUp: LookUp) throws {
        let plan = try plan(lookUp)
        #expect(!plan.isEmpty)
        let scans = plan.filter { $0.hasPrefix("SCAN") && !plan.contains("CO-ROUTINE \($0.dropFirst(5))") }
        // What is counted of enrollments is an index alone, and what is known to be in trouble is handed in.
        let open = [
            "INDEX request_open", "INDEX message_to_answer", "INDEX enrollment_to_erase",
            "INDEX enrollment_of_external_key",
            "COVERING INDEX enrollment_by_state", "INDEX enrollment_signed_elsewhere", "SCAN json_each",
            "INDEX enrollment_by_marks", "INDEX push_subscription_by_enrollment",
        ]
        let areOpen = scans.allSatisfy { scan in open.contains { scan.contains($0) } }
        #expect(areOpen, "\(plan)")
    }
}
