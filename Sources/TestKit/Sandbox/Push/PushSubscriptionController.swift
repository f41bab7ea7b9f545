import GRDB
import IssuerProtocol
import StrictJSON

/// Keeps the push subscription of an authenticator: it comes with the enrollment or later, is replaced, and ends.
struct PushSubscriptionController: Sendable {
    /// Bytes of a subscription's JSON.
    private static let maxBody = 8_192

    let backend: IssuerBackend

    func replace(_ incoming: Incoming) async throws -> Answer {
        let authenticator = try await backend.authenticated(incoming)
        guard incoming.body.count <= Self.maxBody else {
            throw SandboxError(status: 413, code: .invalidRequest, detail: "a subscription of more than 8 KiB")
        }
        let subscription = try PushSubscription(bytes: incoming.body)
        try backend.pushPolicy.check(subscription)
        try await store(subscription, of: authenticator)
        return .noContent
    }

    /// Also if there is none.
    func end(_ incoming: Incoming) async throws -> Answer {
        try await store(nil, of: try await backend.authenticated(incoming))
        return .noContent
    }

    private func store(_ subscription: PushSubscription?, of authenticator: AuthenticatorRecord) async throws {
        let now = backend.now
        try await backend.store.queue.write { db in
            try Self.store(subscription, of: authenticator.id, now: now, db)
        }
    }

    /// Of an authenticator that has ended, nothing is kept.
    static func store(
        _ subscription: PushSubscription?, of authenticatorId: String, now: Int64, _ db: Database
    ) throws {
        try db.execute(
            sql: "UPDATE authenticator SET subscription = ?, pushSince = ? WHERE id = ? AND endedAt IS NULL",
            arguments: [
                subscription.map { JSONValue.object($0.json).text }, subscription == nil ? nil : now, authenticatorId,
            ])
    }
}
