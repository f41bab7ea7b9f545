import Authenticator
import FoundationEssentials
import GRDB
import IssuerProtocol
import ScratchDirectories
import StrictJSON
import Testing
import ThreeDS

@testable import SQLiteStore

/// The column that came with the second migration.
struct PaymentMigrationTests {
    private static let id = "0123456789abcdef0123"
    private static let members = #"{"acsTransId":"2f37539c-d82e-4929-88db-2f9e72c7fa62","merchantName":"Café"}"#

    private let directory: ScratchDirectory
    private let path: String

    init() throws {
        directory = try ScratchDirectory()
        path = directory("store.sqlite")
    }

    /// Writes a database as the first migration left it, with one enrollment and one pending request.
    private func writeFirstVersion() throws {
        let queue = try DatabaseQueue(path: path)
        try Schema.migrator.migrate(queue, upTo: "1-the-book")
        try queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO enrollment (id, issuer, name, authn_type, algorithm, rp_id, credential_id, user_handle,
                        started_at, sign_count, state, authenticator_id, sealed_token, enrolled_at)
                    VALUES (?1, 'https://issuer.example', 'card', 'presence', -7, 'issuer.example', x'01', x'02',
                        1700000000, 41, 'active', 'authenticator-1', x'03', 1700000001)
                    """, arguments: [Self.id])
            try database.execute(
                sql: """
                    INSERT INTO request (id, enrollment_id, jti, iat, exp, acs_trans_id, members, transaction_digest,
                        nonce, warnings, message, received_at, state, delivery, has_conflict)
                    VALUES (?1, ?1, 'request-1', 1700000002, 1700000602, '2f37539c-d82e-4929-88db-2f9e72c7fa62',
                        CAST(?2 AS BLOB), x'04', x'05', CAST('[]' AS BLOB), 'a.b.c', 1700000003, 'pending', 'none', 0)
                    """, arguments: [Self.id, Self.members])
        }
        try queue.close()
    }

    private func onlyRequest(in store: SQLiteDatabase) async throws -> RequestRecord {
        let all = try await store.read { try $0.requests(pendingOnly: false, enrollment: nil, limit: 10) }
        return try #require(all.count == 1 ? all[0] : nil)
    }

    private func write(payment: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            try database.execute(sql: "UPDATE request SET payment = CAST(? AS BLOB)", arguments: [payment])
        }
        try queue.close()
    }

    @Test func `a request of a database from before payments is read, in the plain form`() async throws {
        try writeFirstVersion()
        let record = try await onlyRequest(in: SQLiteDatabase(path: path))
        let presented = try #require(record.presented)
        #expect(presented.payment == nil)
        #expect(presented.transaction.merchantName == "Café" && presented.nonce == [5] && record.life == .pending)
        #expect(record.iat == 1_700_000_002 && record.receivedAt == 1_700_000_003)
    }

    @Test func `a database from before payments takes a payment, which is there again when it is opened`() async throws
    {
        try writeFirstVersion()
        let old = try await onlyRequest(in: SQLiteDatabase(path: path))
        let presented = try #require(old.presented)
        let payment = try PaymentExtension(json: [
            "isPayment": true, "payeeOrigin": "https://merchant.example",
            "instrument": ["displayName": "Visa ø", "icon": "data:image/png,x"],
        ])
        let id = try #require(RequestID("ffffffffffffffffffff"))
        let new = RequestRecord(
            id: id, enrollmentId: old.enrollmentId, jti: old.jti, iat: old.iat, exp: old.exp,
            presented: PresentedRequest(
                transaction: presented.transaction, payment: payment, transactionDigest: [6], nonce: [7],
                warnings: [], traceparent: nil),
            acsTransId: old.acsTransId, message: old.message, receivedAt: old.receivedAt,
            life: .pending)
        try await SQLiteDatabase(path: path).write { try $0.insert(new) }
        let read = try #require(try await SQLiteDatabase(path: path).read { try $0.request(id) })
        #expect(read.presented?.payment?.json == payment.json)
        #expect(read.presented?.nonce == [7])
    }

    @Test func `a migrated database is migrated once`() async throws {
        try writeFirstVersion()
        for _ in 1...2 { _ = try await onlyRequest(in: SQLiteDatabase(path: path)) }
        let queue = try DatabaseQueue(path: path)
        let applied = try await queue.read { try Schema.migrator.appliedMigrations($0) }
        #expect(applied.starts(with: ["1-the-book", "2-payment"]))
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"isPayment":true}"#,
        #"{"isPayment":true,"instrument":{"displayName":"x","icon":"javascript:x"}}"#,
    ])
    func `a payment that this agent cannot have written is unreadable`(payment: String) async throws {
        try writeFirstVersion()
        let store = try SQLiteDatabase(path: path)
        try write(payment: payment)
        let error = try await #require(throws: StoreError.self) { try await onlyRequest(in: store) }
        #expect(error.kind == .corrupt && error.detail == "a row of request has an unreadable payment")
    }
}
