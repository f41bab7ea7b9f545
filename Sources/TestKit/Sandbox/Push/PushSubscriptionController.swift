import GRDB
import IssuerProtocol
import StrictJSON

/// Stores the push subscription of an authenticator, which can come with the enrollment, be replaced, and end.
struct PushSubscriptionController: Sendable {
    /// The limit of a subscription's JSON, in bytes.
    private static let maxBody = 8_192

    let backend: IssuerBackend

    func replace(_ incoming: Incoming) async throws -> Answer {
        let authenticator = try await backend.authenticated(incoming)
        guard incoming.body.count <= Self.maxBody else {
            throw SandboxError(status: 413, code: .invalidRequest, detail: "a subscription of more than 8 KiB")
        }
        let subscription = try PushSubscription(bytes: incoming.body)
        try backend.pushPolicy.expectAllowed(subscription)
        try await store(subscription, of: authenticator)
        return .noContent
    }

    /// Ends the subscription, and succeeds if there is none.
    func unsubscribe(_ incoming: Incoming) async throws -> Answer {
        try await store(nil, of: try await backend.authenticated(incoming))
        return .noContent
    }

    private func store(_ subscription: PushSubscription?, of authenticator: AuthenticatorRecord) async throws {
        let now = backend.now
        try await backend.store.queue.write { db in
            try Self.store(subscription, of: authenticator.id, now: now, db)
        }
    }

    /// Stores a subscription, unless the authenticator has ended.
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
