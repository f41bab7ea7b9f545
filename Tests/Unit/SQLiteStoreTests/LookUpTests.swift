import GRDB
import IssuerProtocol
import Records
import SQLiteStore
import StoreTables
import TestStores
import Testing

/// What the look-ups find, in their order.
struct LookUpTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func jtis(
        _ look: @escaping @Sendable (StoreReading) throws -> [RequestRecord]
    ) async throws -> [String] {
        try await sample.store.read(look).map(\.jti.text)
    }

    private func jtis(
        _ look: @escaping @Sendable (StoreReading) throws -> [NamedRequest]
    ) async throws -> [String] {
        try await jtis { store in try look(store).compactMap { try store.request($0.id) } }
    }

    @Test func `lists are oldest first; of more than the limit the newest, but of the pending the oldest`() async throws
    {
        let one = try await sample.enrollment("a")
        let other = try await sample.enrollment("b")
        try await sample.insert(
            SampleStore.request(1, of: one), SampleStore.request(2, of: other),
            SampleStore.request(3, of: one, life: .expired), SampleStore.request(4, of: one))
        #expect(
            try await jtis { try $0.requests(pendingOnly: false, enrollment: nil, limit: 3) }
                == ["request-2", "request-3", "request-4"])
        #expect(
            try await jtis { try $0.requests(pendingOnly: true, enrollment: nil, limit: 2) }
                == ["request-1", "request-2"])
        #expect(
            try await jtis { try $0.requests(pendingOnly: true, enrollment: one.id, limit: 9) }
                == ["request-1", "request-4"])
        #expect(
            try await jtis { try $0.requests(pendingOnly: false, enrollment: one.id, limit: 2) }
                == ["request-3", "request-4"])
        #expect(try await sample.store.read { try $0.oldestPending(enrollment: nil) }?.jti.text == "request-1")
        #expect(try await sample.store.read { try $0.oldestPending(enrollment: other.id) }?.jti.text == "request-2")
        #expect(try await sample.store.read { try $0.pendingCount(enrollment: nil) } == 3)
        #expect(try await sample.store.read { try $0.pendingCount(enrollment: one.id) } == 2)
    }

    @Test func `a list goes on after and before a request, to its end`() async throws {
        let one = try await sample.enrollment("a")
        let other = try await sample.enrollment("b")
        let all = try (1...7).map {
            try SampleStore.request($0, of: $0 == 4 ? other : one, life: $0 == 6 ? .expired : .pending)
        }
        for request in all { try await sample.insert(request) }
        func page(
            pending: Bool = false, of enrollment: EnrollmentID? = nil, _ page: RequestPage, limit: Int = 2
        ) async throws -> [String] {
            try await jtis {
                try $0.requests(pendingOnly: pending, enrollment: enrollment, page: page, limit: limit)
            }
        }
        #expect(try await page(RequestPage(after: all[1].id)) == ["request-3", "request-4"])
        #expect(try await page(RequestPage(after: all[6].id)).isEmpty)
        #expect(try await page(RequestPage(before: all[4].id)) == ["request-3", "request-4"])
        #expect(try await page(RequestPage(before: all[0].id)).isEmpty)
        #expect(try await page(pending: true, RequestPage(after: all[4].id)) == ["request-7"])
        // Also from one that is pending no more.
        #expect(try await page(pending: true, RequestPage(before: all[5].id)) == ["request-4", "request-5"])
        #expect(try await page(RequestPage(after: all[2].id, before: all[4].id)) == ["request-4"])
        #expect(try await page(of: one.id, RequestPage(after: all[2].id)) == ["request-5", "request-6"])
        #expect(
            try await page(pending: true, of: one.id, RequestPage(before: all[4].id), limit: 9)
                == ["request-1", "request-2", "request-3"])
    }

    @Test func `what is due comes by its exp, and the next deadline is the earliest`() async throws {
        let one = try await sample.enrollment("a")
        #expect(try await sample.store.read { try $0.nextDeadline() } == nil)
        try await sample.insert(
            SampleStore.request(3, of: one), SampleStore.request(1, of: one), SampleStore.request(2, of: one),
            SampleStore.request(0, of: one, life: .cancelled))
        #expect(try await sample.store.read { try $0.nextDeadline() } == 1_001)
        #expect(try await jtis { try $0.duePending(now: 1_002, limit: 9) } == ["request-1", "request-2"])
        #expect(try await jtis { try $0.duePending(now: 1_003, limit: 1) } == ["request-1"])
        #expect(try await jtis { try $0.duePending(now: 1_000, limit: 9) }.isEmpty)
    }

    @Test func `the newest under an acsTransId is the one with the greatest iat that showed something`() async throws {
        let one = try await sample.enrollment("a")
        let other = try await sample.enrollment("b")
        let acs = "2f37539c-d82e-4929-88db-2f9e72c7fa62"
        var refused = try SampleStore.request(
            4, of: one, life: .refused(token: "conflict", reason: .invalidRequest), acsTransId: acs, iat: 90)
        refused.presented = nil
        try await sample.insert(
            SampleStore.request(1, of: one, life: .expired, acsTransId: acs, iat: 20),
            SampleStore.request(2, of: one, acsTransId: acs, iat: 10), refused,
            SampleStore.request(3, of: other, acsTransId: acs, iat: 30))
        let newest = try await sample.store.read { try $0.newestPresented(enrollment: one.id, acsTransId: acs) }
        #expect(newest?.jti.text == "request-1")
        #expect(try await sample.store.read { try $0.newestPresented(enrollment: one.id, acsTransId: "x") } == nil)
    }

    @Test func `a prefix is looked for in id, jti and acsTransId, and case matters except in the last`() async throws {
        let one = try await sample.enrollment("a")
        try await sample.insert(
            SampleStore.request(1, of: one), SampleStore.request(0xABC, of: one),
            SampleStore.request(2, of: one, acsTransId: "ffffffff-d82e-4929-88db-2f9e72c7fa62"))
        let found: [(String, [String])] = [
            ("request-", ["request-2", "request-2748", "request-1"]), ("request-274", ["request-2748"]),
            ("REQUEST-", []), ("00000000000000000abc", ["request-2748"]), ("FFFFFFFF-D82E", ["request-2"]),
            ("request-2", ["request-2", "request-2748"]), ("request%", []), ("request_", []),
        ]
        for (prefix, expected) in found {
            #expect(
                try await jtis { try $0.requests(prefix: prefix, enrollment: nil, limit: 9) } == expected, "\(prefix)")
        }
        let other = try await sample.enrollment("b")
        #expect(try await jtis { try $0.requests(prefix: "request-", enrollment: other.id, limit: 9) }.isEmpty)
        #expect(try await jtis { try $0.requests(prefix: "request-", enrollment: one.id, limit: 1) } == ["request-2"])
    }

    @Test func `a whole name comes before those that only begin with it, and a pending one before the others`()
        async throws
    {
        let one = try await sample.enrollment("a")
        let acs = "2f37539c-d82e-4929-88db-2f9e72c7fa62"
        try await sample.insert(
            SampleStore.request(1, of: one, life: .expired), SampleStore.request(10, of: one, acsTransId: acs),
            SampleStore.request(11, of: one, life: .expired, acsTransId: acs), SampleStore.request(12, of: one))
        #expect(
            try await jtis { try $0.requests(prefix: "request-1", enrollment: nil, limit: 2) }
                == ["request-1", "request-12"])
        #expect(try await jtis { try $0.requests(prefix: acs, enrollment: nil, limit: 1) } == ["request-10"])
    }

    @Test func `a whole name is of an id, a jti or an acsTransId, and of no longer one`() async throws {
        let (one, other) = (try await sample.enrollment("a"), try await sample.enrollment("b"))
        let acs = "2f37539c-d82e-4929-88db-2f9e72c7fa62"
        try await sample.insert(
            SampleStore.request(1, of: one), SampleStore.request(11, of: one, acsTransId: acs),
            SampleStore.request(12, of: other, life: .expired, acsTransId: acs))
        func named(_ name: String, _ enrollment: EnrollmentID? = nil, limit: Int = 9) async throws -> [String] {
            try await jtis { try $0.requests(named: name, enrollment: enrollment, limit: limit) }
        }
        #expect(try await named("request-1") == ["request-1"])
        #expect(try await named("request-") == [])
        #expect(try await named(acs.uppercased()) == ["request-11", "request-12"])
        #expect(try await named(acs, limit: 1) == ["request-11"])
        #expect(try await named(acs, other.id) == ["request-12"])
        #expect(try await named(String(acs.dropLast())) == [])
    }

    @Test func `of very many that begin so the one of an enrollment is found, and a whole name`() async throws {
        let (one, other) = (try await sample.enrollment("a"), try await sample.enrollment("b"))
        for number in 1...200 { try await sample.insert(SampleStore.request(number, of: one, life: .expired)) }
        try await sample.insert(
            SampleStore.request(300, of: other), SampleStore.request(199_999, of: one, life: .expired))
        #expect(
            try await jtis { try $0.requests(prefix: "request-", enrollment: other.id, limit: 9) } == ["request-300"])
        #expect(try await jtis { try $0.requests(prefix: "0000", enrollment: other.id, limit: 9) } == ["request-300"])
        #expect(
            try await jtis { try $0.requests(prefix: "request-199", enrollment: nil, limit: 9) }
                == ["request-199", "request-199999"])
        let some = try await jtis { try $0.requests(prefix: "request-", enrollment: nil, limit: 1_000) }
        #expect((2...64).contains(some.count))
    }

    @Test(.ofSQLite) func `messages are counted by slots of time, also after some are removed`() async throws {
        let (one, other) = (try await sample.enrollment("a"), try await sample.enrollment("b"))
        let times: [Int64] = [0, 1, 299, 300, 300, 301, 599, 600, 899, 900, 86_399, 86_400, 86_700, 1_700_000_000]
        try await sample.store.write { store in
            for (number, time) in times.enumerated() {
                for enrollment in [one, other] where enrollment.id == one.id || number % 3 == 0 {
                    try store.insert(
                        SeenMessage(
                            enrollmentId: enrollment.id, jti: try #require(TokenID("m-\(number)")), payloadDigest: [],
                            requestId: nil, seenAt: time))
                }
            }
        }
        func check(_ kept: [Int64], of enrollment: Enrollment) async throws {
            for since in Set(times.flatMap { [$0 - 1, $0, $0 + 1] } + [-86_400, -300]) {
                let count = try await sample.store.read {
                    try $0.storedTally(of: enrollment.id, since: since, until: .max).messages
                }
                #expect(count == kept.count { $0 >= since - (since % 300 + 300) % 300 }, "since \(since)")
            }
        }
        let ofOther = times.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
        try await check(times, of: one)
        try await check(ofOther, of: other)
        _ = try await sample.store.write { try $0.removeWhatWasOver(before: 600, limit: 100) }
        try await check(times.filter { $0 >= 600 }, of: one)
        try await check(ofOther.filter { $0 >= 600 }, of: other)
        _ = try await sample.store.write { try $0.removeWhatWasOver(before: .max, limit: 100) }
        #expect(try sample.raw { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM message_tally") } == 0)
    }

    @Test func `each queue of an outbox has its head`() async throws {
        let one = try await sample.enrollment("a")
        let other = try await sample.enrollment("b")
        func insert(_ number: Int, _ life: RequestLife, signCount: Int64? = nil, of enrollment: Enrollment) async throws
        {
            var request = try SampleStore.request(number, of: enrollment, life: life)
            request.queuePlace = signCount
            let decided = request
            try await sample.insert(decided)
            try await sample.store.write { try $0.keep(KeptEvidence(decision: [1]), of: decided.id) }
        }
        let approved = RequestLife(state: .approved, delivery: .queued)
        let denied = RequestLife(state: .denied(.userDenied), delivery: .queued)
        try await insert(1, approved, signCount: 2, of: one)
        try await insert(2, denied, of: one)
        try await insert(3, approved, signCount: 1, of: one)
        try await insert(4, approved, signCount: 0, of: other)
        let duplicate = try SeenMessage(
            enrollmentId: one.id, jti: #require(TokenID("d2")), payloadDigest: [1], requestId: nil, seenAt: 5,
            answer: DuplicateAnswer(exp: 1, traceparent: nil))
        try await sample.store.write { try $0.insert(duplicate) }
        try await insert(5, .refused(token: "conflict", reason: .policy), of: one)
        func head(_ queue: OutboxQueue, _ enrollment: Enrollment) async throws -> OutboxEntry? {
            try await sample.store.read { try $0.outboxHead(enrollment: enrollment.id, queue: queue) }
        }
        let first = try #require(try await head(.approvals, one))
        #expect(first.jti.text == "request-3" && first.signCount == 1)
        #expect(try await head(.denials, one)?.jti.text == "request-2")
        #expect(try await head(.approvals, other)?.jti.text == "request-4")
        #expect(try await head(.denials, other) == nil)
        #expect(try await sample.store.read { try $0.outboxCount(enrollment: nil) } == 6)
        #expect(try await sample.store.read { try $0.outboxCount(enrollment: one.id) } == 5)
        #expect(try await Set(sample.store.read { try $0.outboxEnrollments() }) == [one.id, other.id])
        func end(_ entry: OutboxEntry) async throws {
            try await sample.store.write {
                try $0.endDelivery(of: entry, as: .delivered(.authenticated), error: nil)
            }
        }
        try await end(first)
        #expect(try await head(.approvals, one)?.jti.text == "request-1")
        // What was denied, asked again and refused is answered in that order.
        var answered: [String] = []
        while let entry = try await head(.denials, one) {
            answered.append(entry.jti.text)
            try await end(entry)
        }
        #expect(answered == ["request-2", "d2", "request-5"])
    }
}
