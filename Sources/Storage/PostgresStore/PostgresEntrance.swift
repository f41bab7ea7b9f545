#if PostgreSQL
import Records
import StoreTables
import TableRows

/// The secret that seals a value: this host's present one, or the previous one if the host has that too.
package enum SecretAge: Sendable {
    case present
    case previous
}

/// The fingerprints of a host's secrets, by which hosts compare them.
package struct HostSecrets: Sendable {
    fileprivate let present: [UInt8]
    fileprivate let previous: [UInt8]?
    fileprivate let mayBeginChange: Bool

    /// - Parameters:
    ///   - present: the fingerprint of the secret that is to seal everything.
    ///   - previous: the fingerprint of the secret before. `nil` if the host does not have it.
    ///   - mayBeginChange: false for a process that ends soon and changes no data.
    package init(present: [UInt8] = [], previous: [UInt8]? = nil, mayBeginChange: Bool = true) {
        self.present = present
        self.previous = previous
        self.mayBeginChange = mayBeginChange
    }
}

/// The entrance of a host into the database: one at a time, and only with secrets that open the others' seals.
struct PostgresEntrance {
    let host: PostgresHost
    let secrets: HostSecrets
    /// Whether a host may enter before a move into the database is complete, to inspect it.
    let mayEnterUnfinished: Bool
    /// Opens a host's audit key, which shows which secret seals everything.
    let open: (_ auditKey: [UInt8]) throws -> SecretAge

    struct Entry {
        /// The incarnation, a number that grows whenever a process becomes this host.
        ///
        /// A shut-out changes it too.
        let incarnation: Int64
        /// Whether this host seals under its present secret.
        ///
        /// Else it seals under the previous one.
        let isPresentSecretInUse: Bool
        /// The running hosts that lack the present secret.
        let lacking: [String]
    }

    /// Makes this process the host.
    ///
    /// The first host to find that all other running hosts have the new secret begins the change. From then on, each
    /// host that enters must have both secrets, until every row is sealed under the new one.
    ///
    /// - Throws: ``HostNameTakenError``, ``SecretChangeRefusal``, or an error of `open`. The database is then
    ///   unchanged.
    func enter(_ connection: PostgresConnection) throws -> Entry {
        try connection.transaction {
            // The table lock makes other entering hosts wait, and shows this one what they have committed before.
            _ = try connection.rows("LOCK TABLE host IN SHARE ROW EXCLUSIVE MODE")
            switch try MovedState.of(connection) {
            case .gone(let place)?: throw PostgresMoveError.gone(to: place)
            case .unfinished(let origin)? where !mayEnterUnfinished: throw PostgresMoveError.unfinished(from: origin)
            default: break
            }
            let isDue = try isSecretDue(connection)
            let lacking = isDue ? try hostsWithoutSecret(connection) : []
            let isPresent = !isDue || (lacking.isEmpty && secrets.mayBeginChange)
            let (present, previous) = (secrets.present, secrets.previous ?? [])
            let incarnation = try host.claim(
                connection, seals: isPresent ? present : previous, opens: isPresent ? previous : present)
            if isDue, isPresent {
                _ = try connection.rows(SecretChangeStatement.begin, [host.name.text])
                _ = try connection.rows(SecretChangeStatement.shutOutLacking, [host.name.text, present])
            }
            return Entry(incarnation: incarnation, isPresentSecretInUse: isPresent, lacking: lacking)
        }
    }

    /// Whether a change of the secret should begin.
    private func isSecretDue(_ connection: PostgresConnection) throws -> Bool {
        var isDue = false
        for case .bytes(let sealed)? in try connection.rows("SELECT sealed FROM audit_key ORDER BY host").map(\.first) {
            if try open(sealed) == .previous { isDue = true }
        }
        let change = try connection.rows("SELECT host, present, previous FROM secret_change").first
        guard let change, change.count == 3, case .text(let name) = change[0] else { return isDue }
        guard change[1] == .bytes(secrets.present), change[2] == .bytes(secrets.previous ?? []) else {
            throw SecretChangeRefusal(host: name)
        }
        return false
    }

    private func hostsWithoutSecret(_ connection: PostgresConnection) throws -> [String] {
        try connection.names(
            """
            SELECT name FROM host WHERE alive_until > clock_timestamp() AND name <> ?1 AND seals <> ?2 AND opens <> ?2
            ORDER BY name
            """, [host.name.text, secrets.present])
    }
}

/// The error of a host that cannot start, because the secret is being changed and it lacks one of the two.
///
/// The database is unchanged.
package struct SecretChangeRefusal: Error, Equatable, CustomStringConvertible {
    /// The host that is changing the secret, or was stopped while it did.
    let host: String

    package var description: String {
        "host \(host) is changing the secret, or was stopped while it did: start this one with both secrets, or with the "
            + "new one after a host with both has finished that"
    }
}
#endif
