#if PostgreSQL
package import Records
import TableRows

/// A host of the shared database.
///
/// It writes its own journal chain.
package struct PostgresHost: Sendable {
    /// The time for which a host counts as running, and keeps its share of the work, after its last sign of life.
    package static let usualLease: Duration = .seconds(15)

    package let name: HostName
    /// A value from this host's state directory only, which tells it from another machine with the same name.
    package let identity: [UInt8]
    /// The lease, in whole milliseconds.
    ///
    /// It is the same for all hosts of a database.
    package let lease: Duration

    package init(name: HostName, identity: [UInt8], lease: Duration = usualLease) {
        self.name = name
        self.identity = identity
        self.lease = lease
    }

    /// Makes this process the host.
    ///
    /// Any other process that was the host can no longer write. After a process on this machine was killed, its
    /// successor can start at once. A process on another machine must have been silent for ``lease``.
    ///
    /// - Parameters:
    ///   - seals: the fingerprint of the secret under which the host seals.
    ///   - opens: the fingerprint of another secret whose seals it opens. Empty if there is none.
    /// - Returns: the incarnation, a number that grows whenever a process becomes this host. A shut-out changes it too.
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

    /// Releases the host's name, so that another machine can use it at once.
    func release(_ connection: PostgresConnection, _ incarnation: Int64) throws {
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

/// An agent on another machine runs under the same host name.
struct HostNameTakenError: Error {
    let host: HostName
}
#endif
