import StoreTables

@testable import Authenticator
@testable import Records

extension SampleAgent {
    /// Every entry of the journal, oldest first.
    func journal() async throws -> [JournalEntry] {
        let rows = try await store.real.read { try $0.journal(after: 0, limit: 100_000) }
        return try rows.map { row in
            guard let entry = JournalEntry(row) else { throw SampleError("row \(row.sequence) is no entry") }
            return entry
        }
    }

    /// The kinds of the entries that the body adds, in their order.
    func recorded(_ body: () async throws -> Void) async throws -> [JournalFact.Kind] {
        let before = try await journal().count
        try await body()
        return try await journal().dropFirst(before).map(\.kind)
    }

    /// The newest entry of a kind.
    func newest(_ kind: JournalFact.Kind) async throws -> JournalEntry {
        guard let entry = try await journal().last(where: { $0.kind == kind }) else {
            throw SampleError("no entry \(kind)")
        }
        return entry
    }

    /// Delivers all that waits.
    func deliverAll() async throws {
        try await running([agent.outboxDelivery.run]) {
            try await eventually { try $0.outboxCount(enrollment: nil) == 0 ? true : nil }
        }
    }
}
