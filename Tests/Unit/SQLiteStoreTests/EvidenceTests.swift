import GRDB
import IssuerProtocol
import Keys
import Records
import StoreTables
import TestStores
import Testing

@testable import SQLiteStore

/// The rows of what is kept for a dispute.
struct EvidenceTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func kept(_ request: RequestRecord) async throws -> KeptEvidence {
        try await sample.store.read { try $0.evidence(of: request.id) }
    }

    private func keep(_ evidence: KeptEvidence, of request: RequestRecord) async throws {
        try await sample.store.write { try $0.keep(evidence, of: request.id) }
    }

    private var rows: Int {
        get throws { try sample.raw { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM evidence") ?? 0 } }
    }

    @Test func `what is kept comes back byte for byte, and what is added leaves the rest`() async throws {
        let card = try await sample.enrollment()
        let request = try SampleStore.request(1, of: card)
        let other = try SampleStore.request(2, of: card)
        try await sample.insert(request, other)
        #expect(try await kept(request) == KeptEvidence())
        let (key, newer) = (try SigningKey.generate(.es256).publicKey, try SigningKey.generate(.es256).publicKey)
        try await keep(KeptEvidence(issuerKey: key), of: request)
        try await keep(KeptEvidence(text: "Amount: \u{202E}\nCafe\u{301}"), of: request)
        try await keep(KeptEvidence(decision: [0x00, 0xFF]), of: request)
        #expect(
            try await kept(request)
                == KeptEvidence(issuerKey: key, text: "Amount: \u{202E}\nCafe\u{301}", decision: [0x00, 0xFF]))
        #expect(Array(try await kept(request).text?.utf8 ?? "".utf8) == Array("Amount: \u{202E}\nCafe\u{301}".utf8))
        try await keep(KeptEvidence(issuerKey: newer, text: "other"), of: request)
        #expect(try await kept(request) == KeptEvidence(issuerKey: newer, text: "other", decision: [0x00, 0xFF]))
        #expect(try await kept(other) == KeptEvidence())
    }

    @Test func `what comes with a new request is kept as well`() async throws {
        let request = try SampleStore.request(1, of: try await sample.enrollment())
        let evidence = KeptEvidence(
            issuerKey: try SigningKey.generate(.es256).publicKey, text: "Cafe\u{301}", decision: [0x00, 0xFF])
        try await sample.store.write { try $0.insert(request, evidence) }
        #expect(try await kept(request) == evidence)
        #expect(try await sample.store.read { try $0.request(request.id) }?.message == request.message)
    }

    @Test(.ofSQLite) func `a piece is written once: only another text and a newer message take a place again`()
        async throws
    {
        let card = try await sample.enrollment()
        let request = try SampleStore.request(1, of: card)
        try await sample.store.write { try $0.insert(request, KeptEvidence(text: "Café")) }
        try await sample.insert(SampleStore.request(2, of: card))
        let before = try pieces
        try await keep(KeptEvidence(text: "Café", decision: [1]), of: request)
        #expect(try pieces.dropLast() == before[...] && pieces.last?.hasPrefix("4 ") == true)
        #expect(try await kept(request).decision == [1])
        // The same text to Swift, in other bytes.
        try await keep(KeptEvidence(text: "Cafe\u{301}"), of: request)
        let newer = SampleStore.message(acsTransId: try #require(request.acsTransId), padding: "newer")
        try await sample.store.write { store in
            var changed = request
            changed.message = newer
            try store.update(changed)
        }
        #expect(try pieces.count == 4)
        #expect(Array(try await kept(request).text?.utf8 ?? "".utf8) == Array("Cafe\u{301}".utf8))
        #expect(try await sample.store.read { try $0.request(request.id) }?.message == newer)
        #expect(try pieces.map { $0.prefix(2) } == ["1 ", "2 ", "3 ", "4 "])
    }

    /// Their numbers and bytes, in their order.
    private var pieces: [String] {
        get throws {
            try sample.raw {
                try String.fetchAll($0, sql: "SELECT piece || ' ' || hex(bytes) FROM evidence ORDER BY piece")
            }
        }
    }

    private static func letters(_ count: Int) -> [UInt8] { Array(repeating: 0x78, count: count) }

    @Test(.ofSQLite) func `pages of past requests are nearly full, in whatever order they are decided`() async throws {
        let card = try await sample.enrollment()
        for page in 0..<20 {
            try await sample.store.write { store in
                let requests = try (1...50).map { number in
                    var request = try SampleStore.request(page * 50 + number, of: card, life: .expired)
                    request.message = String(decoding: Self.letters(1_536), as: UTF8.self)
                    request.presented = nil
                    try store.insert(request, KeptEvidence(text: String(decoding: Self.letters(850), as: UTF8.self)))
                    return request
                }
                for request in requests.shuffled() {
                    try store.keep(KeptEvidence(decision: Self.letters(1_107)), of: request.id)
                }
            }
        }
        let fill = try sample.raw {
            try Int.fetchOne($0, sql: "SELECT SUM(payload) * 100 / SUM(pgsize) FROM dbstat WHERE name = 'evidence'")
        }
        #expect(try #require(fill) >= 75)
    }

    @Test(.ofSQLite) func `it goes with its request, and is not counted as another row`() async throws {
        let card = try await sample.enrollment()
        let (old, kept) = (try SampleStore.request(1, of: card, life: .expired), try SampleStore.request(2, of: card))
        try await sample.insert(old, kept)
        for request in [old, kept] { try await keep(KeptEvidence(text: "text"), of: request) }
        #expect(try await sample.store.write { try $0.removeWhatWasOver(before: .max, limit: 100) } == 1)
        #expect(try rows == 2)
    }

    @Test func `an erasure removes it, and only that of its enrollment`() async throws {
        let (card, other) = (try await sample.enrollment("a"), try await sample.enrollment("b"))
        let (erased, left) = (try SampleStore.request(1, of: card), try SampleStore.request(2, of: other))
        try await sample.insert(erased, left)
        for request in [erased, left] { try await keep(KeptEvidence(text: "text", decision: [1]), of: request) }
        _ = try await sample.store.write { try $0.eraseRequests(of: card.id, after: nil, limit: 100) }
        #expect(try await kept(erased) == KeptEvidence())
        #expect(try await kept(left) == KeptEvidence(text: "text", decision: [1]))
    }

    @Test(.ofSQLite) func `bytes that are no key are damage, and no key that is missing`() async throws {
        let request = try SampleStore.request(1, of: try await sample.enrollment())
        try await sample.insert(request)
        try await keep(KeptEvidence(issuerKey: try SigningKey.generate(.es256).publicKey), of: request)
        try sample.execute("UPDATE request SET issuer_key = x'00'")
        #expect(try await kept(request).isDamaged)
    }
}
