#if PostgreSQL
/// What PostgreSQL, or the way to it, has against a statement or a connection.
///
/// It has no value of a statement's parameters or of a row, and no password.
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    /// SQLSTATE (PostgreSQL's manual, appendix A), five characters; nil if the server did not say one.
    package let state: String?
    /// One line.
    package let message: String
    /// The name of the constraint that a row does not keep.
    package let constraint: String?
    /// Whether the connection cannot be used any more.
    ///
    /// What it was committing may have happened or not.
    package let isConnectionLost: Bool

    init(state: String? = nil, message: String, constraint: String? = nil, isConnectionLost: Bool = false) {
        (self.state, self.message) = (state, message)
        (self.constraint, self.isConnectionLost) = (constraint, isConnectionLost)
    }

    package var description: String { state.map { "\(message) (SQLSTATE \($0))" } ?? message }

    /// The same error of a connection that cannot be used any more.
    var withLostConnection: PostgresError {
        PostgresError(state: state, message: message, constraint: constraint, isConnectionLost: true)
    }
}

/// What a caller does something about.
extension PostgresError {
    /// The same database transaction may succeed when it is run again: another one's commit has overtaken it, or two
    /// have waited for each other.
    package var isToBeRepeated: Bool { state == "40001" || state == "40P01" }
    /// A unique index has such a row already.
    package var isDuplicate: Bool { state == "23505" }
    /// A lock was not given, at once or within `lock_timeout`.
    package var isLockNotAvailable: Bool { state == "55P03" }
    /// The server takes no changes, such as one that is a standby.
    package var isReadOnly: Bool { state == "25006" }
    package var isDiskFull: Bool { state == "53100" }
    package var isTooManyConnections: Bool { state == "53300" }
    /// The server stops, starts or was restarted after a crash, or its administrator has ended the connection.
    package var isServerGoing: Bool { state.map { ["57P01", "57P02", "57P03"].contains($0) } ?? false }
    /// The statement took longer than `statement_timeout`, or someone has cancelled it.
    package var isCancelled: Bool { state == "57014" }
    /// The role may not do that.
    package var isNotPermitted: Bool { state == "42501" }
    /// The server does not believe who we are: a wrong password, an unknown role, or pg_hba.conf refuses us.
    package var isAuthenticationFailure: Bool { state?.hasPrefix("28") ?? false }
    package var isDatabaseMissing: Bool { state == "3D000" }
    /// A pooler does not take what only a connection of one's own can have (PgBouncer's words).
    var isOfPooler: Bool { message.contains("unsupported startup parameter") }
    /// A named statement is not there, or no longer fits its tables.
    var isStatementStale: Bool { state == "26000" || state == "0A000" }
}
#endif
