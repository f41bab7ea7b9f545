#if PostgreSQL
package import Records
import TableRows

/// One of the hosts that share the database: whose chain of the journal it writes.
package struct PostgresHost: Sendable {
    /// For how long a host is taken to live, and keeps its part of the work, after it has last said that it lives.
    package static let usualLease: Duration = .seconds(15)

    package let name: HostName
    /// What only this host's state directory has, so that another machine of the same name is not taken for it.
    package let identity: [UInt8]
    /// The same for all hosts of a database; in whole milliseconds.
    package let lease: Duration

    package init(name: HostName, identity: [UInt8], lease: Duration = usualLease) {
        self.name = name
        self.identity = identity
        self.lease = lease
    }

    /// Becomes the host: any other process that was it writes nothing any more.
    ///
    /// A process that was killed on this machine is followed at once; one on another machine has to be silent for
    /// ``lease``.
    ///
    /// - Parameters:
    ///   - seals: the fingerprint of the secret under which it seals.
    ///   - opens: of another one whose seals it opens as well; empty if there is none.
    /// - Returns: how many times somebody has become this host.
    /// - Throws: ``HostNameTakenError``.
    func claim(_ connection: PostgresConnection, seals: [UInt8], opens: [UInt8]) throws -> Int64 {
        let rows = try connection.rows(
            """
            INSERT INTO host (name, identity, incarnation, alive_until, seals, opens)
            VALUES (?1, ?2, 1, clock_timestamp() + ?3 * interval '1 ms', ?4, ?5)
            ON CONFLICT (name) DO UPDATE SET
                identity = excluded.identity, incarnation = abs(host.incarnation) + 1, alive_until = excluded.alive_until,
                seals = excluded.seals, opens = excluded.opens
            WHERE host.identity = excluded.identity OR host.alive_until < clock_timestamp()
            RETURNING incarnation
            """, [name.text, identity, lease.wholeMilliseconds, seals, opens])
        guard case .number(let incarnation) = rows.first?.first else { throw HostNameTakenError(host: name) }
        return incarnation
    }

    /// Lets another machine become it at once.
    func letGo(_ connection: PostgresConnection, _ incarnation: Int64) throws {
        _ = try connection.rows(
            "UPDATE host SET alive_until = clock_timestamp() WHERE name = ? AND incarnation = ?",
            [name.text, incarnation])
    }
}

extension Duration {
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

/// Another machine's agent runs under the same name.
struct HostNameTakenError: Error {
    let host: HostName
}
#endif
