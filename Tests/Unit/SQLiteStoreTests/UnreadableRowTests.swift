import Records
import SQLiteStore
import StoreTables
import StrictJSON
import Testing
import TextAndTime

/// A row that the agent cannot have written is an error, never a default.
struct UnreadableRowTests {
    /// The SubjectPublicKeyInfo of an Ed25519 key as SQL has bytes (RFC 8032 §7.1, test 1).
    private static let samplePublicKey =
        "x'302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'"

    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    /// Expects that this request alone shows nothing of its message, and that the other one is read with it.
    private func expectDamaged(_ damaged: RequestRecord, besides other: RequestRecord) async throws {
        let read = try await sample.store.read { try $0.requests(pendingOnly: false, enrollment: nil, limit: 9) }
        #expect(read.map(\.id) == [damaged.id, other.id])
        #expect(read.map(\.isDamaged) == [true, false])
        #expect(read.first?.presented == nil && read.first?.message == "")
        #expect(try await sample.store.read { try $0.request(damaged.id) }?.isDamaged == true)
    }

    /// Two pending requests of one enrollment, the first of which is to be damaged.
    private func twoRequests() async throws -> (damaged: RequestRecord, other: RequestRecord) {
        let enrollment = try await sample.enrollment()
        let both = try await sample.insert(
            SampleStore.request(1, of: enrollment), SampleStore.request(2, of: enrollment))
        return (both[0], both[1])
    }

    private func expectUnreadable(
        _ table: String, column: String, _ look: @escaping @Sendable (StoreReading) throws -> Void
    ) async throws {
        let error = try await #require(throws: StoreError.self, "\(table).\(column)") {
            try await sample.store.read(look)
        }
        #expect(error.kind == .corrupt)
        #expect(error.detail == "a row of \(table) has an unreadable \(column)")
    }

    @Test(arguments: [
        ("state", "state = 'odd'"), ("reason", "state = 'denied', reason = NULL"),
        ("reason", "state = 'denied', reason = 'because'"), ("reason", "state = 'refused', refusal = 'x', reason = ''"),
        ("refusal", "state = 'refused', refusal = NULL"), ("delivery", "delivery = 'odd'"),
        ("trans_status", "delivery = 'delivered', trans_status = 'U'"),
        ("delivery_failure", "delivery = 'failed', delivery_failure = NULL"), ("jti", "jti = 'no jti'"),
        ("jti", "jti = ''"), ("received_at", "received_at = -1"), ("received_at", "received_at = 9223372036854775807"),
        ("decided_at", "decided_at = -9223372036854775808"), ("decided_at", "decided_at = 253402300800"),
    ])
    func `of a request`(column: String, change: String) async throws {
        let request = try await sample.insert(SampleStore.request(1, of: sample.enrollment()))[0]
        try sample.execute("PRAGMA ignore_check_constraints = ON; UPDATE request SET \(change)")
        try await expectUnreadable("request", column: column) { _ = try $0.request(request.id) }
        try await expectUnreadable("request", column: column) {
            _ = try $0.requests(pendingOnly: false, enrollment: nil, limit: 9)
        }
    }

    @Test(arguments: ["[{}]", "{}"]) func `warnings that are none damage their request alone`(warnings: String)
        async throws
    {
        let (request, other) = try await twoRequests()
        let place = "request \(request.enrollmentId) \(request.id) warnings"
        let encrypted = try sample.encrypted(Array(warnings.utf8), for: place)
        try sample.execute("UPDATE request SET warnings = x'\(encrypted)' WHERE id = '\(request.id)'")
        try await expectDamaged(request, besides: other)
    }

    @Test(arguments: [
        ("state", "state = 'odd'"), ("issuer", "issuer = 'ftp://x'"), ("authn_type", "authn_type = 'odd'"),
        ("sign_count", "sign_count = -1"), ("sign_count", "sign_count = 4294967296"),
        ("authenticator_id", "authenticator_id = NULL"), ("authenticator_id", "authenticator_id = 'a b'"),
        ("sealed_token", "sealed_token = NULL"), ("enrolled_at", "enrolled_at = NULL"),
        ("body", "state = 'enrolling', body = NULL"),
        ("credential_key", "credential_key = x'00'"), ("started_at", "started_at = -9223372036854775808"),
        ("enrolled_at", "enrolled_at = 9223372036854775807"), ("ended_at", "ended_at = -1"),
        ("sign_count_raised_at", "sign_count_raised_at = -1"), ("pin_failures", "pin_failures = -1"),
        ("pin_failures", "pin_failures = 9223372036854775807"),
        ("pin_blocked_until", "pin_blocked_until = 9223372036854775807"),
    ])
    func `of an enrollment`(column: String, change: String) async throws {
        let enrollment = try await sample.enrollment()
        try sample.execute("PRAGMA ignore_check_constraints = ON; UPDATE enrollment SET \(change)")
        try await expectUnreadable("enrollment", column: column) { _ = try $0.enrollment(enrollment.id) }
    }

    @Test(arguments: [
        ("key_uri", "odd:", "key_kind = 'file'"), ("key_public", "file:/k", "key_kind = 'file'"),
        ("key_public", "file:/k", "key_kind = 'file', key_public = x'00'"),
        ("key_kind", "file:/k", "key_kind = 'odd', key_public = \(Self.samplePublicKey)"),
        ("key_kind", "file:/k", "key_public = \(Self.samplePublicKey)"),
    ])
    func `of an enrollment with a key of its own place`(column: String, uri: String, change: String) async throws {
        let enrollment = try await sample.enrollment()
        let place = "enrollment \(enrollment.id) \(enrollment.id) key_uri"
        let encrypted = try sample.encrypted(Array(uri.utf8), for: place)
        try sample.execute("UPDATE enrollment SET key_uri = x'\(encrypted)', \(change)")
        try await expectUnreadable("enrollment", column: column) { _ = try $0.enrollment(enrollment.id) }
    }

    @Test(arguments: [
        "name = x'6D7920'", "user_handle = x'00FF'", "key_uri = x'66'", "roots_pem = x'50454D'",
        "name = roots_pem", "state = 'enrolling', body = x'00'",
    ])
    func `a personal value of an enrollment that nobody encrypted for its place damages that one alone`(
        change: String
    ) async throws {
        let (card, other) = (try await sample.enrollment("a"), try await sample.enrollment("b"))
        try sample.execute("UPDATE enrollment SET \(change) WHERE id = '\(card.id)'")
        let read = try await sample.store.read { try $0.enrollments(after: nil, limit: 9) }
        #expect(read.map(\.id) == [card.id, other.id])
        #expect(read.map(\.isDamaged) == [true, false])
    }

    @Test func `without its data key an enrollment is damaged, and others are read`() async throws {
        let (card, other) = (try await sample.enrollment("a"), try await sample.enrollment("b"))
        for change in ["sealed = x'00'", "enrollment_id = 'unused00000000000009'"] {
            try sample.execute("UPDATE data_key SET \(change) WHERE enrollment_id = '\(card.id)'")
            let read = try await sample.store.read { try $0.enrollments(after: nil, limit: 9) }
            #expect(read.map(\.id) == [card.id, other.id])
            #expect(read.map(\.isDamaged) == [true, false])
        }
    }

    @Test(arguments: [
        ("queue_place", "queue_place = -1"), ("jti", "jti = ''"), ("id", "id = 'x'"),
    ])
    func `of the outbox`(column: String, change: String) async throws {
        let enrollment = try await sample.enrollment()
        var request = try SampleStore.request(1, of: enrollment, life: RequestLife(state: .approved, delivery: .queued))
        request.queuePlace = 1
        let decided = request
        try await sample.insert(decided)
        try await sample.store.write { try $0.keep(KeptEvidence(decision: [1]), of: decided.id) }
        try sample.execute("UPDATE request SET \(change)")
        try await expectUnreadable("request", column: column) { _ = try $0.outbox(enrollment: enrollment.id) }
    }

    @Test(arguments: [Int64.min, -1, .max])
    func `an issuer's time out of all bounds is unreadable, and the next deadline is bounded`(
        _ time: Int64
    ) async throws {
        let request = try await sample.insert(SampleStore.request(1, of: sample.enrollment()))[0]
        try sample.execute("UPDATE request SET exp = \(time)")
        try await expectUnreadable("request", column: "exp") { _ = try $0.request(request.id) }
        #expect(try await sample.store.read { try $0.nextDeadline() } == BoundedTime.nearest(time))
    }

    @Test(arguments: [
        #"{"nonce":1}"#, #"{"transaction":{}}"#, #"{"transaction":{"acsTransId":1}}"#,
        #"{"publicKey":{"extensions":{"payment":[]}}}"#,
        #"{"publicKey":{"extensions":{"payment":{"isPayment":true}}}}"#,
        #"{"publicKey":{"extensions":{"payment":{"isPayment":true,"instrument":{"displayName":"x","icon":"javascript:x"}}}}}"#,
    ])
    func `a message that this agent cannot have presented damages its request alone`(change: String) async throws {
        let (request, other) = try await twoRequests()
        let parts = request.message.split(separator: ".")
        let payload = try #require(Base64URL.decode(String(parts[1])))
        var changed = try JSONReader.object(payload, limits: JSONLimits(maxBytes: 65_536))
        for member in try JSONReader.object(Array(change.utf8), limits: JSONLimits(maxBytes: 65_536)).members {
            changed[member.name] = member.value
        }
        let message = "\(parts[0]).\(Base64URL.encode(JSONValue.object(changed).serialized())).\(parts[2])"
        let encrypted = try sample.encrypted(
            Array(message.utf8), for: "evidence \(request.enrollmentId) \(request.id) message bytes")
        try sample.execute(
            """
            UPDATE evidence SET bytes = x'\(encrypted)'
            WHERE piece = (SELECT message_piece FROM request WHERE id = '\(request.id)')
            """)
        try await expectDamaged(request, besides: other)
    }

    @Test(arguments: [
        "DELETE FROM evidence WHERE piece =", "UPDATE evidence SET bytes = x'00' WHERE piece =",
        "UPDATE evidence SET bytes = x'FF' WHERE piece =",
        "UPDATE evidence SET bytes = CAST('a.b.c' AS BLOB) WHERE piece =",
        "UPDATE request SET message_piece = 99 WHERE message_piece =",
        "UPDATE request SET transaction_digest = NULL WHERE message_piece =",
        "UPDATE request SET warnings = CAST('[]' AS BLOB) WHERE message_piece =",
    ])
    func `a request whose message is not there is damaged, and none that shows nothing`(change: String) async throws {
        let (request, other) = try await twoRequests()
        try sample.execute(
            """
            PRAGMA ignore_check_constraints = ON;
            \(change) (SELECT message_piece FROM request WHERE id = '\(request.id)')
            """)
        try await expectDamaged(request, besides: other)
    }

    @Test(arguments: [Int64.min, -1, .max])
    func `a journal's number that nobody counts up to is unreadable`(_ number: Int64) async throws {
        let digest = "zeroblob(32)"
        try sample.execute(
            "INSERT INTO journal_mark (name, seq, digest) VALUES ('head', \(number), \(digest))")
        try await expectUnreadable("journal_mark", column: "seq") { _ = try $0.journalMark(.head) }
    }

    @Test func `the error carries nothing of the row`() async throws {
        let enrollment = try await sample.enrollment()
        try sample.execute("UPDATE enrollment SET authn_type = 'something secret'")
        let error = try await #require(throws: StoreError.self) {
            try await sample.store.read { _ = try $0.enrollment(enrollment.id) }
        }
        #expect(!"\(error)".contains("secret"))
    }
}
