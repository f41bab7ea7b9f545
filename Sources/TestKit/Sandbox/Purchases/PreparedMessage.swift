import GRDB
package import IssuerProtocol
import StrictJSON
import ThreeDS
import WebAuthn

/// A message made and signed outside the sandbox, such as a message with a deliberate defect.
package struct PreparedMessage: Sendable {
    /// The jti, or `nil` if the message cannot be decided.
    package let jti: String?
    package let jws: String
    /// The request in the message, if it is valid.
    ///
    /// Without it, no approval passes verification.
    package let request: AuthnRequest?

    package init(jti: String?, jws: String, request: AuthnRequest?) {
        self.jti = jti
        self.jws = jws
        self.request = request
    }
}

extension IssuerBackend {
    /// Seconds for which prepared messages are listed and decisions on them are accepted.
    private static let preparedLifetime: Int64 = 86_400

    /// Lists prepared messages, all at once; decisions on them are verified like those on the sandbox's own.
    ///
    /// A second message with a known `jti` is listed too, but a decision applies to the first.
    package func list(_ messages: [PreparedMessage], for authenticatorId: String) async throws {
        try await store.queue.write { db in
            let authenticator = try AuthenticatorRecord.referred(db, id: authenticatorId)
            for message in messages { try list(message, for: authenticator, in: db) }
        }
        notifier.notify(.authenticator(authenticatorId))
    }

    private func list(_ message: PreparedMessage, for authenticator: AuthenticatorRecord, in db: Database) throws {
        let (now, exp) = (now, now + Self.preparedLifetime)
        if let jti = message.jti, try RequestRecord.row(db, "WHERE jti = ?", [jti]) == nil {
            let request = message.request
            let members = request?.transaction.members ?? []
            let last = try Int64.fetchOne(db, sql: "SELECT max(id) FROM purchase") ?? 0
            try PurchaseRecord(
                id: last + 1, acsTransId: request?.transaction.acsTransId.canonical ?? "",
                authenticatorId: authenticator.id, transactionDigest: request?.transactionDigest ?? [],
                transaction: JSONObject(members.map { .init(name: $0.name, value: .string($0.value)) }),
                payment: request?.payment, traceparent: nil, push: .listOnly,
                userVerification: request?.options.userVerification ?? .preferred, emvOrder: [:], emv: EMVProfile(),
                isDecoupled: false, threeDSServerTransID: "", dsTransID: "", sdkTransID: "", createdAt: now,
                expiresAt: exp, startedMilliseconds: now * 1_000
            ).insert(db)
            try RequestRecord(
                jti: jti, purchaseId: last + 1, authenticatorId: authenticator.id, origin: try site.get().origin,
                nonce: request?.nonce ?? [], challenge: request?.challenge ?? [], jws: message.jws, iat: now, exp: exp
            ).insert(db)
        }
        try ListingRecord(
            authenticatorId: authenticator.id, jti: message.jti ?? "", jws: message.jws, exp: exp
        ).insert(db)
    }

    /// Removes a prepared request from the list; later decisions on it are refused.
    package func withdraw(_ jti: String) async throws {
        let now = now
        try await store.queue.write { db in
            try db.execute(sql: "UPDATE authnRequest SET cancelledAt = ? WHERE jti = ?", arguments: [now, jti])
            try RequestMaker.unlist(jti, db)
        }
    }

    /// Raises an authenticator's stored signCount, as if an assertion unknown to the authenticator had come.
    package func raiseSignCount(of authenticatorId: String, by more: UInt32) async throws {
        try await store.queue.write { db in
            try db.execute(
                sql: "UPDATE authenticator SET signCount = min(signCount + ?, 4294967295) WHERE id = ?",
                arguments: [more, authenticatorId])
        }
    }
}
