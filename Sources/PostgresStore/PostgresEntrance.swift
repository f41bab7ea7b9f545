#if PostgreSQL
import Authenticator
import TableRows

/// Under which secret something is: the one that this host has, or the one that was before, if it was given that too.
package enum SecretAge: Sendable {
    case present
    case previous
}

/// A host's way into the database: one at a time, and only with the secret that is in force there.
struct PostgresEntrance {
    let host: PostgresHost
    /// Whether this host has the previous secret as well, to bring all under the present one.
    let mayChangeSecret: Bool
    /// Whether it may be in before a state that is being moved here is all there: to look at it.
    let mayEnterUnfinished: Bool
    /// Opens a host's audit key, which tells under which secret everything is.
    let open: (_ auditKey: [UInt8]) throws -> SecretAge

    struct Entry {
        /// How many times somebody has become this host.
        let incarnation: Int64
        /// Whether it is this start that a change of the secret begins with.
        let beginsSecretChange: Bool
    }

    /// Becomes the host.
    ///
    /// If the secret is to be changed, no other host may run, and none gets in until it was.
    ///
    /// - Throws: ``HostNameTakenError``, ``SecretChangeRefusal``, or what `open` throws; then nothing was changed.
    func enter(_ connection: PostgresConnection) throws -> Entry {
        try connection.transaction {
            // Whoever else comes waits here, and sees what was committed before it.
            _ = try connection.rows("LOCK TABLE host IN SHARE ROW EXCLUSIVE MODE")
            switch try MovedState.of(connection) {
            case .gone(let place)?: throw PostgresMoveError.gone(to: place)
            case .unfinished(let origin)? where !mayEnterUnfinished: throw PostgresMoveError.unfinished(from: origin)
            default: break
            }
            let begins = try checkSecret(connection)
            return Entry(incarnation: try host.claim(connection), beginsSecretChange: begins)
        }
    }

    private func checkSecret(_ connection: PostgresConnection) throws -> Bool {
        var isDue = false
        for case .bytes(let sealed)? in try connection.rows("SELECT sealed FROM audit_key ORDER BY host").map(\.first) {
            if try open(sealed) == .previous { isDue = true }
        }
        let changing = try connection.names("SELECT host FROM secret_change", []).first
        if let changing, !mayChangeSecret { throw SecretChangeRefusal.underWay(by: changing) }
        guard isDue || changing != nil else { return false }
        let running = try connection.runningHosts(besides: host.name)
        guard running.isEmpty else { throw SecretChangeRefusal.othersRun(running) }
        try connection.shutOutHosts(besides: host.name)
        _ = try connection.rows(
            "INSERT INTO secret_change (one, host) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET host = excluded.host",
            [host.name.text])
        return changing == nil
    }
}

/// Why a host cannot start because of a change of the secret that all hosts have; nothing was changed.
package enum SecretChangeRefusal: Error, Equatable, CustomStringConvertible {
    /// It is to be changed, and these hosts run.
    case othersRun([String])
    /// This host is changing it, or was cut short.
    case underWay(by: String)

    package var description: String {
        switch self {
        case .othersRun(let hosts):
            "the secret cannot be changed while other hosts run: stop \(hosts.joined(separator: ", ")) (one that was "
                + "killed counts as running until its lease is over, usually 15 seconds)"
        case .underWay(let host):
            "host \(host) is changing the secret, or was stopped while it did: start one host with both secrets to finish "
                + "that, and then this one with the new one"
        }
    }
}
#endif
