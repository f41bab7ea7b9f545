import Authenticator
import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import ScratchDirectories
import StrictJSON
import Testing

@testable import SQLiteStore
@testable import StoreTables

/// Requests that are over, in few bytes.
struct PastRequestTests {
    private let sample: SampleStore
    private let card: Enrollment

    init() async throws {
        sample = try SampleStore()
        card = try await sample.enrollment()
    }

    private static let over = RequestLife(state: .approved, delivery: .delivered(.authenticated))

    private static func kept(_ text: String = "Amount: \u{202E}\nCafe\u{301}") throws -> KeptEvidence {
        KeptEvidence(issuerKey: try SigningKey.generate(.es256).publicKey, text: text, decision: decision)
    }

    /// As they are on the wire.
    private static let message = [
        #"{"alg":"ES256","kid":"N3iuTmlQV9Xbuz3dxODyN69autQA-B_ecJKNuEVM4sI","typ":"oob-authn-request+jwt"}"#,
        #"{"iss":"https://issuer.example","nonce":"AAECAwQFBgcICQoLDA0ODw","transaction":{"merchantName":"Dæmø"}}"#,
        String(repeating: "signature", count: 7),
    ].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
    private static let decision = Array(
        #"{"decision":"approve","clientDataJSON":"\#(Base64URL.encode(Array(message.utf8)))"}"#.utf8)

    private func insert(_ number: Int, message: String = Self.message) async throws -> RequestRecord {
        var request = try SampleStore.request(number, of: card, life: Self.over)
        request.message = message
        request.decidedAt = 9
        request.deliveryError = "none"
        try await sample.insert(request)
        try await sample.store.write { [request] in try $0.keep(Self.kept(), of: request.id) }
        return request
    }

    private func pack(sparing newest: Int = 0) async throws {
        _ = try await sample.store.write { try $0.packRequests(after: 0, sparing: newest, limit: 1_000) }
    }

    /// All that is known of a request.
    private func known(_ request: RequestRecord) async throws -> String {
        try await sample.store.read { store in
            let (record, kept) = (try store.request(request.id), try store.evidence(of: request.id))
            return
                "\(String(describing: record)) \(kept.issuerKey?.pem ?? "") \(kept.text ?? "") \(kept.decision ?? [])"
        }
    }

    private func count(_ condition: String) throws -> Int {
        try sample.raw { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(condition)") ?? 0 }
    }

    @Test func `what is packed is read as it was, and takes a fraction of the bytes`() async throws {
        var refused = try SampleStore.request(2, of: card, life: RequestLife(state: .expired, delivery: .none))
        refused.presented = nil
        try await sample.insert(refused)
        let approved = try await insert(1)
        let before = (try await known(approved), try await known(refused))
        let sizes = "LENGTH(message) + IFNULL(LENGTH(members), 0) + IFNULL(LENGTH(nonce), 0)"
        try await pack()
        #expect(try await (known(approved), known(refused)) == before)
        #expect(try count("request WHERE \(sizes) > 0") == 0 && count("evidence") == 0 && count("past_request") == 2)
        let all = try await sample.store.read { try $0.requests(pendingOnly: false, enrollment: nil, limit: 10) }
        #expect(all.map(\.message) == [refused.message, approved.message])
        let newest = try await sample.store.read { [card] in
            try $0.newestPresented(enrollment: card.id, acsTransId: approved.acsTransId ?? "")
        }
        #expect(newest?.id == approved.id && newest?.presented?.nonce == approved.presented?.nonce)
        let packed = try sample.raw { try Int.fetchOne($0, sql: "SELECT MAX(LENGTH(content)) FROM past_request") }
        #expect(try #require(packed) < Self.message.utf8.count + Self.decision.count)
    }

    @Test func `what is open, queued, or among the newest stays as it is`() async throws {
        let lives = [RequestLife.pending, RequestLife(state: .approved, delivery: .queued)]
        for (number, life) in lives.enumerated() {
            try await sample.insert(try SampleStore.request(10 + number, of: card, life: life))
        }
        for number in 1...5 { _ = try await insert(number) }
        try await pack(sparing: 3)
        #expect(try count("past_request") == 2)
        try await pack()
        #expect(try count("past_request") == 5 && count("request WHERE message = ''") == 5)
        // Nothing is left to be packed.
        #expect(try await sample.store.write { try $0.packRequests(after: 0, sparing: 0, limit: 9) } == nil)
    }

    @Test(arguments: [
        "", "a.b.c", message, message + "=", String(repeating: "A", count: 49), String(repeating: "-", count: 200),
        "\u{0}\u{1}é" + String(repeating: "Zm9v", count: 30) + "\u{1}", String(repeating: "ab_", count: 4_000) + ".",
    ])
    func `any message comes back byte for byte`(message: String) throws {
        var past = PastRequest()
        past.message = Array(message.utf8)
        past.decision = Array(message.utf8)
        past.nonce = [0, 255]
        past.issuerKey = 7
        let packed = try #require(past.packed)
        #expect(PastRequest(packed: packed) == past)
        // Nothing that is cut off or longer is taken for it.
        #expect(PastRequest(packed: packed + [0]) == nil)
        for count in 0..<packed.count { #expect(PastRequest(packed: Array(packed.prefix(count))) == nil) }
    }

    @Test func `bytes that were changed are never taken for what was there`() async throws {
        let request = try await insert(1)
        let before = try await known(request)
        try await pack()
        let packed = try sample.raw { try Data.fetchOne($0, sql: "SELECT content FROM past_request") }
        let content = try #require(packed)
        for place in content.indices {
            var changed = content
            changed[place] ^= 0x10
            try sample.raw { [changed] in
                try $0.execute(sql: "UPDATE past_request SET content = ?", arguments: [changed])
            }
            let found = try? await known(request)
            #expect(found != before, "byte \(place)")
        }
        // It says that it stands for more than any memory has.
        try sample.execute("UPDATE past_request SET content = x'01ffffffff0300'")
        let error = try await #require(throws: StoreError.self) { try await known(request) }
        #expect(error.kind == .corrupt && error.detail == "a row of past_request has an unreadable content")
        try sample.execute("DELETE FROM past_request")
        await #expect(throws: StoreError.self) { try await known(request) }
    }

    @Test func `what is written after it was packed holds, and is packed with the rest`() async throws {
        var request = try await insert(1)
        let key = try await sample.store.read { [request] in try $0.evidence(of: request.id).issuerKey }
        try await pack()
        request.hasConflict = true
        request.message = "d.e.f"
        try await sample.store.write { [request] store in
            try store.update(request)
            try store.keep(KeptEvidence(text: "later"), of: request.id)
        }
        for _ in 1...2 {
            let (record, kept) = try await sample.store.read { [request] in
                (try $0.request(request.id), try $0.evidence(of: request.id))
            }
            #expect(record?.message == "d.e.f" && record?.hasConflict == true)
            #expect(record?.presented?.nonce == request.presented?.nonce)
            #expect(kept == KeptEvidence(issuerKey: key, text: "later", decision: Self.decision))
            try await pack()
        }
        #expect(try count("evidence") == 0 && count("past_request") == 1 && count("issuer_key") == 1)
    }

    @Test func `it goes with its request, and by an erasure`() async throws {
        for number in 1...2 { _ = try await insert(number) }
        try await pack()
        try sample.execute("INSERT INTO journal_of_request VALUES (1, 256), (2, 256)")
        _ = try await sample.store.write { try $0.removeWhatWasOver(before: 1_001, limit: 1) }
        #expect(try count("request") == 2)
        _ = try await sample.store.write { try $0.removeWhatWasOver(before: 1_002, limit: 1) }
        #expect(try count("request") == 1 && count("past_request") == 1 && count("journal_of_request") == 1)
        _ = try await sample.store.write { [card] in try $0.eraseRequests(of: card.id, after: nil, limit: 9) }
        #expect(try count("request") == 1 && count("past_request") == 0)
        let left = try await sample.store.read { try $0.requests(pendingOnly: false, enrollment: nil, limit: 9) }
        #expect(left.count == 1 && left[0].message.isEmpty && left[0].presented == nil)
        // And is not packed again.
        try await pack()
        #expect(try count("past_request") == 0)
    }

    @Test func `a step that fails changes nothing`() async throws {
        let request = try await insert(1)
        let before = try await known(request)
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await sample.store.write { store in
                #expect(try store.packRequests(after: 0, sparing: 0, limit: 9) == 1)
                throw Failure()
            }
        }
        #expect(try await known(request) == before)
        #expect(try count("past_request") == 0 && count("evidence") == 1)
    }
}
