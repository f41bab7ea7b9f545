/// What PostgreSQL, or the way to it, has against what was asked.
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    /// SQLSTATE (PostgreSQL's manual, appendix A); nil if the server did not say one.
    package let state: String?
    /// The server's own words or libpq's; no value of a statement, and no password.
    package let message: String
    /// Whether the connection is lost, and with it the answers that were to come.
    package let isLost: Bool

    package init(state: String? = nil, _ message: String, isLost: Bool = false) {
        self.state = state
        self.message = message
        self.isLost = isLost
    }

    package var description: String { state.map { "\(message), SQLSTATE \($0)" } ?? message }

    /// Whether the same database transaction may succeed if it is run again: it was undone for the sake of another one.
    package var isToBeRepeated: Bool {
        // serialization_failure, deadlock_detected, unique_violation: another has the same row now.
        state == "40001" || state == "40P01" || state == "23505"
    }
}
