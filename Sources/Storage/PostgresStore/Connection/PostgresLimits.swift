#if PostgreSQL
/// The time limits of a connection and of its server process.
package struct PostgresLimits: Sendable, Equatable {
    /// The limit for connecting to all hosts together.
    package var connecting: Duration = .seconds(10)
    /// The limit for the answers of one pipeline.
    ///
    /// When it is exceeded, the connection is closed.
    package var answer: Duration = .seconds(10)
    /// The server's `statement_timeout`.
    ///
    /// `nil` leaves it to the server's configuration, as for the two below.
    package var statement: Duration?
    /// The server's `lock_timeout`.
    package var lock: Duration?
    /// The server's `idle_in_transaction_session_timeout`.
    package var idleInTransaction: Duration?
    /// The limit of prepared statements of a connection.
    ///
    /// Behind a pooler there are none.
    package var keptStatements = 512

    package init() {}

    /// The `options` that a connection sets at its start.
    var serverOptions: String {
        // Settings that our statements rely on, regardless of the role's settings. The last one makes a server of
        // version 14 or later end a statement whose client has disconnected.
        let fixed = [
            "-c standard_conforming_strings=on", "-c client_min_messages=error",
            "-c \(Self.probe.name)=\(Self.probe.value)",
        ]
        let given = times.compactMap { name, time in time.map { "-c \(name)=\($0.milliseconds(atLeast: 1))" } }
        return (fixed + given).joined(separator: " ")
    }

    /// An option in ``serverOptions``, read back to find out whether the server got them.
    package static let probe = (name: "client_connection_check_interval", value: "5000", shown: "5s")

    private var times: [(name: String, time: Duration?)] {
        [
            ("statement_timeout", statement), ("lock_timeout", lock),
            ("idle_in_transaction_session_timeout", idleInTransaction),
        ]
    }

    /// The limits as a statement for one database transaction.
    var ofTransaction: String {
        let given =
            [("client_min_messages", "error")]
            + times.compactMap { name, time in time.map { (name, String($0.milliseconds(atLeast: 1))) } }
        let calls = given.map { "set_config('\($0.0)', '\($0.1)', true)" }
        return "SELECT \(calls.joined(separator: ", "))"
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up, and at most PostgreSQL's largest integer.
    func milliseconds(atLeast least: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 2_147_483 else { return 2_147_483_647 }
        let unit: Int64 = 1_000_000_000_000_000
        return max(least, seconds * 1_000 + (attoseconds + unit - 1) / unit)
    }
}
#endif
