import GRDB
import IssuerProtocol
import StrictJSON

/// The status of an enrolled authenticator, and the end of its enrollment.
struct AuthenticatorController: Sendable {
    let backend: IssuerBackend

    func status(_ incoming: Incoming) async throws -> Answer {
        let authenticator = try await backend.authenticated(incoming)
        return .json(
            200,
            [
                "authenticatorId": .string(authenticator.id), "signCount": .integer(Int64(authenticator.signCount)),
            ])
    }

    func unenroll(_ incoming: Incoming) async throws -> Answer {
        let authenticator = try await backend.authenticated(incoming)
        try await end(authenticator.id, as: "unenrolled")
        return .noContent
    }

    /// Ends an enrollment: refuses its token from now on, empties its list and stops its pushes.
    ///
    /// Open requests stay open until they expire.
    func end(_ id: String, as ending: String) async throws {
        let now = backend.now
        try await backend.store.queue.write { db in
            try db.execute(
                sql: """
                    UPDATE authenticator SET endedAt = ?, ending = ?, subscription = NULL, pushSince = NULL
                    WHERE id = ? AND endedAt IS NULL
                    """,
                arguments: [now, ending, id])
            try db.execute(sql: "DELETE FROM listing WHERE authenticatorId = ?", arguments: [id])
        }
        backend.notifier.notify(.authenticator(id))
    }
}
