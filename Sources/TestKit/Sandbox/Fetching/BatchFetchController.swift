import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import StrictJSON

/// Answers a fetch for many authenticators at once; the caller has the tokens of all.
struct BatchFetchController: Sendable {
    private struct Asked: Sendable {
        let authenticatorId: TokenID
        let tokenDigest: [UInt8]
        let after: String?
    }

    let backend: IssuerBackend

    func fetch(_ incoming: Incoming) async throws -> Answer {
        let request = try BatchFetchRequest(bytes: incoming.body)
        try await DecoupledRenewals(backend: backend).run()
        let asked = try request.entries.map { entry in
            Asked(
                authenticatorId: entry.authenticatorId,
                tokenDigest: try SHA256Digest.of(Array(entry.accessToken.reveal().utf8)), after: entry.after)
        }
        let topics = asked.map { ChangeNotifier.Topic.authenticator($0.authenticatorId.text) }
        let news = try await backend.notifier.firstValue(about: topics, within: Int64(request.wait)) {
            let results = try await results(for: asked)
            return results.isEmpty ? nil : results
        }
        return .json(200, BatchFetchAnswer(results: news ?? []).json)
    }

    private func results(for asked: [Asked]) async throws -> [BatchFetchAnswer.Result] {
        try await backend.store.read { db in
            let listing = try Listing(db, of: backend)
            let findings = try asked.map { try Self.finding(for: $0, from: listing, in: db) }
            // The answer has the oldest entries of all authenticators, so that one with a long list does not delay the
            // others.
            let last = findings.flatMap(\.sequences).sorted().prefix(RequestList.limit).last ?? 0
            return zip(asked, findings).compactMap { asked, finding in
                finding.outcome(upTo: last, of: listing)
                    .map { BatchFetchAnswer.Result(authenticatorId: asked.authenticatorId, outcome: $0) }
            }
        }
    }

    private static func finding(for asked: Asked, from listing: Listing, in db: Database) throws -> Finding {
        let id = try SQLRequest<String>(
            sql: "SELECT id FROM authenticator WHERE tokenDigest = ? AND endedAt IS NULL",
            arguments: [Data(asked.tokenDigest)], cached: true
        ).fetchOne(db)
        guard let id, id.utf8.elementsEqual(asked.authenticatorId.text.utf8) else { return .problem(.invalidToken) }
        guard let after = asked.after else {
            return .entries(try listing.entries(of: id, after: nil), isWithoutCursor: true)
        }
        guard let sequence = listing.sequence(of: after) else { return .problem(.unknownCursor) }
        return .entries(try listing.entries(of: id, after: sequence), isWithoutCursor: false)
    }
}

/// The result for one authenticator, before the limit across all of them is applied.
private enum Finding {
    case problem(ProblemCode)
    /// The listed entries; a caller without a cursor gets an answer even if there are none.
    case entries([Listing.Entry], isWithoutCursor: Bool)

    var sequences: [Int64] {
        if case .entries(let entries, _) = self { entries.map(\.sequence) } else { [] }
    }

    /// Returns the result with the entries up to `last`, or `nil` if the answer can omit it for now.
    ///
    /// Entries listed after `last` come in a later answer.
    func outcome(upTo last: Int64, of listing: Listing) -> BatchFetchAnswer.Outcome? {
        switch self {
        case .problem(let code): return .problem(code)
        case .entries(let entries, let isWithoutCursor):
            let first = entries.filter { $0.sequence <= last }
            guard first.isEmpty else { return .list(listing.list(first)) }
            return entries.isEmpty && isWithoutCursor ? .list(listing.list([])) : nil
        }
    }
}
