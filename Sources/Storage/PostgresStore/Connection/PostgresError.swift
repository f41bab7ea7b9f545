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
    /// A conflict of two database transactions, which may succeed if they run again.
    ///
    /// Another commit came first (a serialization failure), or there was a deadlock.
    package var isToBeRepeated: Bool { state == "40001" || state == "40P01" }
    /// A unique index that already has such a row.
    package var isDuplicate: Bool { state == "23505" }
    /// A refused lock, either at once (`NOWAIT`) or after `lock_timeout`.
    package var isLockNotAvailable: Bool { state == "55P03" }
    /// A server that accepts no writes, such as a standby.
    package var isReadOnly: Bool { state == "25006" }
    package var isDiskFull: Bool { state == "53100" }
    package var isTooManyConnections: Bool { state == "53300" }
    /// A server that is stopping, starting or recovering, or an administrator who has ended the connection.
    package var isServerGoing: Bool { state.map { ["57P01", "57P02", "57P03"].contains($0) } ?? false }
    /// A statement that exceeded `statement_timeout` or was cancelled.
    package var isCancelled: Bool { state == "57014" }
    /// A missing permission of the role.
    package var isNotPermitted: Bool { state == "42501" }
    /// A refused login: a wrong password, an unknown role, or a rule in pg_hba.conf.
    package var isAuthenticationFailure: Bool { state?.hasPrefix("28") ?? false }
    package var isDatabaseMissing: Bool { state == "3D000" }
    /// A startup parameter that a pooler refuses (PgBouncer's wording).
    var isOfPooler: Bool { message.contains("unsupported startup parameter") }
    /// A prepared statement that is missing or no longer fits its tables.
    var isStatementStale: Bool { state == "26000" || state == "0A000" }
}
#endif
