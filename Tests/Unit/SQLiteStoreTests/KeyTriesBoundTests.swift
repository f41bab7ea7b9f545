import Keys
import Records
import StoreTables
import TestStores
import Testing

@testable import SQLiteStore

/// The bound on keys without an enrollment whose wrong PINs are counted.
struct KeyTriesBoundTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func hasRoom(for key: KeyIdentity) async throws -> Bool {
        try await sample.store.read { try $0.hasRoomForTries(of: key) }
    }

    @Test(.ofSQLite) func `no more keys without an enrollment are counted than the bound says`() async throws {
        let numbers = 0..<UInt64(PINTries.keysWithoutEnrollment)
        let keys = try numbers.map { number -> KeyIdentity in
            let bytes = (0..<32).map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> (8 * $0) : 0) }
            return try #require(KeyIdentity(bytes: bytes))
        }
        let tried = PINTries(failures: 1, blockedUntil: nil)
        try await sample.store.write { store in
            for key in keys.dropLast() { _ = try store.setPINTries(of: key, from: .fresh, to: tried) }
        }
        let last = try #require(keys.last)
        let further = try #require(KeyIdentity(bytes: Array(repeating: 0xff, count: 32)))
        #expect(try await hasRoom(for: last))
        try await sample.store.write { _ = try $0.setPINTries(of: last, from: .fresh, to: tried) }
        #expect(try await hasRoom(for: last))
        #expect(try await !hasRoom(for: further))
        // A key of an enrollment is counted as well, and does not count for the bound.
        let facts = ExternalKeyFacts(
            kind: .file, publicKey: try SigningKey.generate(.es256).publicKey, isExportable: true)
        let place = KeyPlace.external(ExternalKey(uri: try KeyURI("file:/a"), facts: facts, identity: last))
        let card = try SampleStore.enrollment("1", key: place)
        try await sample.store.write { try $0.insert(card) }
        #expect(try await hasRoom(for: further))
    }
}
