import Dispatch
import Foundation
import GRDB
import IssuerProtocol
import Keys
import Records
import StoreTables
import StrictJSON
import TestStores
import Testing
import ThreeDS

import struct Sandbox.SplitMix64

@testable import SQLiteStore

/// What is left of an enrollment's personal data, in rows and in files.
struct ErasureTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func eraseAll(of id: EnrollmentID, limit: Int = 100) async throws {
        var place: Int64?
        repeat {
            let last = place
            place = try await sample.store.write { try $0.eraseRequests(of: id, after: last, limit: limit) }
        } while place != nil
        try await sample.store.write { try $0.eraseNames(of: id) }
    }

    /// All bytes of the store's files: rows, indexes, free pages and the log.
    private var files: Data {
        ["", "-wal", "-shm"].reduce(Data()) { $0 + (FileManager.default.contents(atPath: sample.path + $1) ?? Data()) }
    }

    private func isInFiles(_ text: String) -> Bool { files.range(of: Data(text.utf8)) != nil }

    /// The columns of a table's only row that hold something.
    private func columns(keptIn table: String) throws -> Set<String> {
        try sample.raw { database in
            let names = try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info('\(table)')")
            return try Set(
                names.filter { name in
                    try Int.fetchOne(database, sql: "SELECT LENGTH(\"\(name)\") > 0 FROM \(table)") == 1
                })
        }
    }

    @Test func `ids, times, digests and states stay, texts and the message go`() async throws {
        let (card, other) = (try await sample.enrollment("a"), try await sample.enrollment("b"))
        let life = RequestLife(state: .approved, delivery: .delivered(.authenticated))
        let request = try SampleStore.request(1, of: card, life: life)
        let kept = try SampleStore.request(2, of: other, life: life)
        try await sample.insert(request, kept)
        try await eraseAll(of: card.id)
        let read = try #require(try await sample.store.read { try $0.request(request.id) })
        #expect(read.presented == nil && read.message.isEmpty)
        #expect(read.jti == request.jti && read.acsTransId == request.acsTransId && read.life == life)
        #expect(read.receivedAt == request.receivedAt && read.exp == request.exp && read.iat == request.iat)
        let digest = try sample.raw { try Data.fetchOne($0, sql: "SELECT transaction_digest FROM request LIMIT 1") }
        #expect(digest == Data([9, 9]))
        let enrollment = try #require(try await sample.store.read { try $0.enrollment(card.id) })
        #expect(enrollment.name.isEmpty && enrollment.userHandle.isEmpty && enrollment.target.rootsPEM == nil)
        #expect(enrollment.credentialId == card.credentialId && enrollment.target.issuer == card.target.issuer)
        let neighbour = try #require(try await sample.store.read { try $0.request(kept.id) })
        #expect(neighbour.presented?.transaction.merchantName == "Dæmø \u{202E}\"" && neighbour.message == kept.message)
    }

    @Test func `no column of a request keeps what its issuer sent`() async throws {
        let card = try await sample.enrollment()
        let plain = try SampleStore.request(1, of: card, life: .expired)
        let payment: JSONObject = [
            "isPayment": true, "instrument": ["displayName": "Visa of Ada", "icon": "https://issuer.example/ada.png"],
        ]
        var request = plain
        request.message = SampleStore.message(acsTransId: try #require(plain.acsTransId), payment: payment)
        request.presented = try SampleStore.presented(request.message, plain.presented?.warnings ?? [])
        let whole = request
        let evidence = KeptEvidence(issuerKey: try SigningKey.generate(.es256).publicKey, text: "text", decision: [1])
        try await sample.store.write { try $0.insert(whole, evidence) }
        #expect(
            try await sample.store.read { try $0.request(whole.id) }?.presented?.payment?.displayName == "Visa of Ada")
        try await eraseAll(of: card.id)
        #expect(try sample.raw { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM evidence") } == 0)
        #expect(
            try columns(keptIn: "request") == [
                "seq", "id", "enrollment_id", "jti", "iat", "exp", "acs_trans_id", "transaction_digest", "is_presented",
                "received_at", "counted_bytes", "state", "delivery", "has_conflict",
            ])
    }

    @Test func `where its key was goes too, which may name a person`() async throws {
        let facts = ExternalKeyFacts(
            kind: .file, publicKey: try SigningKey.generate(.es256).publicKey, isExportable: true)
        let identity = KeyIdentity(bytes: Array(0..<32))
        let place = KeyPlace.external(
            ExternalKey(uri: try KeyURI("file:/home/ada/card.pem"), facts: facts, identity: identity))
        let card = try SampleStore.enrollment("a", key: place)
        try await sample.store.write { try $0.insert(card) }
        try await eraseAll(of: card.id)
        #expect(try await sample.store.read { try $0.enrollment(card.id) }?.key == .own)
        let kept = try columns(keptIn: "enrollment")
        #expect(kept.isDisjoint(with: ["name", "user_handle", "roots_pem", "credential_key"]))
        #expect(!kept.contains { $0.hasPrefix("key_") }, "\(kept)")
    }

    @Test func `one step erases no more than it may, and says where it stopped`() async throws {
        let (card, other) = (try await sample.enrollment("a"), try await sample.enrollment("b"))
        for number in 1...5 {
            try await sample.insert(SampleStore.request(number, of: number == 2 ? other : card, life: .expired))
        }
        let first = try await sample.store.write { try $0.eraseRequests(of: card.id, after: nil, limit: 2) }
        #expect(first == 3)
        let erased = try await sample.store.read { try $0.requests(pendingOnly: false, enrollment: nil, limit: 9) }
        #expect(erased.map { $0.presented == nil } == [true, false, true, false, false])
        #expect(try await sample.store.write { try $0.eraseRequests(of: card.id, after: 3, limit: 2) } == 5)
        #expect(try await sample.store.write { try $0.eraseRequests(of: card.id, after: 5, limit: 2) } == nil)
    }

    @Test func `it is wanted until it is concluded, and acted on once the enrollment is over`() async throws {
        let card = try await sample.enrollment()
        try await sample.store.write { try $0.wantErasure(of: card.id) }
        #expect(try await sample.store.read { try $0.enrollmentsToErase() }.isEmpty)
        try await sample.store.write { _ = try $0.change(card.id, .ended(at: 1)) }
        #expect(try await sample.store.read { try $0.enrollmentsToErase() } == [card.id])
        #expect(try await sample.store.read { try $0.isErased(card.id) } == false)
        try await sample.store.write { store in
            try store.concludeErasure(of: card.id)
            try store.wantErasure(of: card.id)
        }
        #expect(try await sample.store.read { try $0.enrollmentsToErase() }.isEmpty)
        #expect(try await sample.store.read { try $0.isErased(card.id) })
    }

    /// Rows of many lengths that grow after they were written, so that SQLite moves them from page to page: what it
    /// leaves behind there is what `secure_delete` does not overwrite.
    @Test(arguments: [1, 2, 3]) func `after a scrub no file holds what was written over`(seed: UInt64) async throws {
        let (card, other) = (try await sample.enrollment("a"), try await sample.enrollment("b"))
        var numbers = SplitMix64(seed: seed)
        for number in 1...300 {
            let owner = number.isMultiple(of: 3) ? card : other
            var request = try SampleStore.request(number, of: owner, life: .expired)
            request.traceparent = "\(owner.id == card.id ? "ERASED" : "KEPT")-" + numbers.text
            try await sample.insert(request)
            guard number > 20 else { continue }
            let grown = SampleStore.digits(number - Int(numbers.next() % 20))
            try sample.execute(
                "UPDATE request SET traceparent = traceparent || '\(numbers.text)' WHERE id = '\(grown)'")
        }
        try await eraseAll(of: card.id)
        try await sample.store.scrub()
        #expect(!isInFiles("ERASED"))
        #expect(isInFiles("KEPT"))
        let log = try FileManager.default.attributesOfItem(atPath: sample.path + "-wal")[.size] as? Int
        #expect(log == 0)
    }

    /// Enrollments come and go, so that places of keys are used again, and their rows move from page to page.
    @Test(arguments: [1, 2, 3]) func `once the log is empty no file holds a key that was destroyed`(
        seed: UInt64
    ) async throws {
        var numbers = SplitMix64(seed: seed)
        var (kept, destroyed): ([EnrollmentID: [UInt8]], [[UInt8]]) = ([:], [])
        for number in 1...600 {
            let card = try SampleStore.enrollment(numbered: number)
            try await sample.store.write { try $0.insert(card) }
            kept[card.id] = try await sealedKey(of: card.id)
            guard numbers.next() % 3 == 0,
                let (id, key) = kept.min(by: { $0.value.lexicographicallyPrecedes($1.value) })
            else { continue }
            try await eraseAll(of: id)
            if numbers.next() % 2 == 0 { try sample.execute("DELETE FROM enrollment WHERE id = '\(id)'") }
            kept[id] = nil
            destroyed.append(key)
        }
        let before = files
        #expect(
            destroyed.count > 100 && destroyed.contains { before.range(of: Data($0)) != nil }, "they are in the log")
        #expect(try await sample.store.emptyLog())
        let after = files
        #expect(!destroyed.contains { after.range(of: Data($0)) != nil })
        #expect(kept.values.allSatisfy { after.range(of: Data($0)) != nil })
        let rows = try sample.raw { try Int.fetchOne($0, sql: "SELECT count(*) FROM data_key") ?? 0 }
        #expect(rows < 600, "places are used again")
        let log = try FileManager.default.attributesOfItem(atPath: sample.path + "-wal")[.size] as? Int
        #expect(log == 0)
    }

    private func sealedKey(of id: EnrollmentID) async throws -> [UInt8] {
        try #require(
            try await sample.store.read { try $0.dataKeys(after: nil, limit: 1_000) }.first { $0.enrollmentId == id }
        ).sealed
    }

    @Test func `a log that someone else reads is left as it is`() async throws {
        _ = try await sample.enrollment()
        let reader = try SQLiteReader(path: sample.path)
        #expect(try await !sample.store.emptyLog())
        try reader.close()
        #expect(try await sample.store.emptyLog())
        let timeout = try await sample.file.pool.write { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") }
        #expect(timeout == 5_000, "other writes wait for a lock as before")
    }

    @Test func `a survey that is under way is waited for, and the log is empty after it`() async throws {
        _ = try await sample.enrollment()
        let (begun, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let store = sample.store
        async let survey = store.survey { reader in
            _ = try reader.enrollmentCount()
            begun.signal()
            return goesOn.wait(timeout: .now() + .seconds(600)) == .success
        }
        try #require(await Task.detached { begun.wait(timeout: .now() + .seconds(600)) == .success }.value)
        async let isEmpty = store.emptyLog()
        // Meanwhile decisions go on; an answer that did not wait would be there by now.
        for _ in 1...50 { try await store.write { try $0.touch() } }
        goesOn.signal()
        #expect(try await survey)
        #expect(try await isEmpty)
    }

    @Test func `what is deleted is overwritten: the writer deletes securely`() async throws {
        #expect(try await sample.file.secureDeletionLevel() == 1)
    }
}

extension SplitMix64 {
    /// 1 to 700 bytes.
    fileprivate var text: String { mutating get { String(repeating: "x", count: 1 + Int(next() % 700)) } }
}
