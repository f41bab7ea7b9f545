import GRDB
import IssuerProtocol
import StrictJSON

/// Answers an authenticator's fetch of its requests.
struct FetchController: Sendable {
    let backend: IssuerBackend

    func fetch(_ incoming: Incoming) async throws -> Answer {
        let wait = try incoming.wait()
        let authenticator = try await backend.authenticated(incoming)
        try backend.fetchQuota.admit(authenticator.id, now: backend.now)
        try await DecoupledRenewals(backend: backend).run()
        guard let after = incoming.query("after") else {
            if !incoming.isOriginal { backend.fetchQuota.giveBack(authenticator.id) }
            return .json(200, try await list(authenticator.id, after: nil).json)
        }
        let cursor = try await sequence(of: after)
        let news = try await backend.notifier.firstValue(about: [.authenticator(authenticator.id)], within: wait) {
            // The token may have ended while the call waited.
            _ = try await backend.authenticated(incoming)
            let list = try await list(authenticator.id, after: cursor)
            return list.requests.isEmpty ? nil : list
        }
        if news != nil || wait > 0 { backend.fetchQuota.giveBack(authenticator.id) }
        return .json(200, (news ?? RequestList(requests: [], cursor: after)).json)
    }

    private func list(_ authenticatorId: String, after: Int64?) async throws -> RequestList {
        try await backend.store.read { db in
            let listing = try Listing(db, of: backend)
            return listing.list(try listing.entries(of: authenticatorId, after: after))
        }
    }

    private func sequence(of cursor: String) async throws -> Int64 {
        let sequence = try await backend.store.read { db in try Listing(db, of: backend).sequence(of: cursor) }
        guard let sequence else {
            throw SandboxError.listed(.unknownCursor, "the cursor is unknown: fetch without one")
        }
        return sequence
    }
}
