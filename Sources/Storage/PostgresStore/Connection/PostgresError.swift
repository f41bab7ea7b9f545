#if PostgreSQL
/// An error of PostgreSQL or of the connection to it.
///
/// It contains no parameter value, no value of a row, and no password.
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The five-character SQLSTATE (PostgreSQL's manual, appendix A), or `nil` if the server sent none.
    package let state: String?
    /// The message, in one line.
    package let message: String
    /// The name of the violated constraint.
    package let constraint: String?
    /// Whether this error has ended the connection.
    ///
    /// If it was lost during a commit, that commit may have happened or not.
    package let isConnectionLost: Bool

    init(state: String? = nil, message: String, constraint: String? = nil, isConnectionLost: Bool = false) {
        (self.state, self.message) = (state, message)
        (self.constraint, self.isConnectionLost) = (constraint, isConnectionLost)
    }

    package var description: String { state.map { "\(message) (SQLSTATE \($0))" } ?? message }

    /// A copy of the error for a lost connection.
    var withLostConnection: PostgresError {
        PostgresError(state: state, message: message, constraint: constraint, isConnectionLost: true)
    }
}

/// The errors that callers handle.
extension PostgresError {
    /// Whether two database transactions were in conflict, so that this one may succeed if it runs again.
    ///
    /// Another commit came first (a serialization failure), or there was a deadlock.
    package var isToBeRepeated: Bool { state == "40001" || state == "40P01" }
    /// Whether a unique index already has such a row.
    package var isDuplicate: Bool { state == "23505" }
    /// Whether a lock was refused, either at once (`NOWAIT`) or after `lock_timeout`.
    package var isLockNotAvailable: Bool { state == "55P03" }
    /// Whether the server accepts no writes, as a standby does, or the database transaction is read-only.
    package var isReadOnly: Bool { state == "25006" }
    package var isDiskFull: Bool { state == "53100" }
    package var isTooManyConnections: Bool { state == "53300" }
    /// Whether the server is stopping, starting or recovering, or an administrator has ended the connection.
    package var isServerGoing: Bool { state.map { ["57P01", "57P02", "57P03"].contains($0) } ?? false }
    /// Whether the statement exceeded `statement_timeout` or was cancelled.
    package var isCancelled: Bool { state == "57014" }
    /// Whether the role lacks a permission.
    package var isNotPermitted: Bool { state == "42501" }
    /// Whether the login was refused: for a wrong password, an unknown role, or by a rule in pg_hba.conf.
    package var isAuthenticationFailure: Bool { state?.hasPrefix("28") ?? false }
    package var isDatabaseMissing: Bool { state == "3D000" }
    /// Whether a pooler refused a startup parameter (PgBouncer's wording).
    var isOfPooler: Bool { message.contains("unsupported startup parameter") }
    /// Whether a prepared statement is missing or no longer fits its tables.
    var isStatementStale: Bool { state == "26000" || state == "0A000" }
}
#endif
