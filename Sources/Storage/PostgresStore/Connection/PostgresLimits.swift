#if PostgreSQL
/// How long a connection waits, and how long the server holds something for it.
package struct PostgresLimits: Sendable, Equatable {
    /// For connecting, to all hosts together.
    package var connecting: Duration = .seconds(10)
    /// For the answers to what was sent together; after it the connection is lost.
    package var answer: Duration = .seconds(10)
    /// The server's `statement_timeout`; nil leaves it to the server's configuration, as for the two below.
    package var statement: Duration?
    /// The server's `lock_timeout`.
    package var lock: Duration?
    /// The server's `idle_in_transaction_session_timeout`.
    package var idleInTransaction: Duration?
    /// How many statements a connection keeps parsed; none behind a pooler.
    package var keptStatements = 512

    package init() {}

    /// The options that the server gets when it is connected to.
    var serverOptions: String {
        // What matters for the meaning of our statements, whatever the role's settings are. A server of version 14 or
        // later ends a statement whose client is gone.
        let fixed = [
            "-c standard_conforming_strings=on", "-c client_min_messages=error",
            "-c \(Self.probe.name)=\(Self.probe.value)",
        ]
        let given = times.compactMap { name, time in time.map { "-c \(name)=\($0.milliseconds(atLeast: 1))" } }
        return (fixed + given).joined(separator: " ")
    }

    /// One of these options, by which it is seen whether the server has got them.
    package static let probe = (name: "client_connection_check_interval", value: "5000", shown: "5s")

    private var times: [(name: String, time: Duration?)] {
        [
            ("statement_timeout", statement), ("lock_timeout", lock),
            ("idle_in_transaction_session_timeout", idleInTransaction),
        ]
    }

    /// The same for one database transaction, as a statement.
    var ofTransaction: String {
        let given =
            [("client_min_messages", "error")]
            + times.compactMap { name, time in time.map { (name, String($0.milliseconds(atLeast: 1))) } }
        let calls = given.map { "set_config('\($0.0)', '\($0.1)', true)" }
        return "SELECT \(calls.joined(separator: ", "))"
    }
}

extension Duration {
    /// Rounded up, and at most what PostgreSQL counts in an integer.
    func milliseconds(atLeast least: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 2_147_483 else { return 2_147_483_647 }
        let unit: Int64 = 1_000_000_000_000_000
        return max(least, seconds * 1_000 + (attoseconds + unit - 1) / unit)
    }
}
#endif
