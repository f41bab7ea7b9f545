#if PostgreSQL
import Records
import StoreTables
import TableRows

/// Under which secret something is: the one that this host has, or the one that was before, if it was given that too.
package enum SecretAge: Sendable {
    case present
    case previous
}

/// Which secrets a host has, as the hosts tell each other: by fingerprints.
package struct HostSecrets: Sendable {
    fileprivate let present: [UInt8]
    fileprivate let previous: [UInt8]?
    fileprivate let mayBeginChange: Bool

    /// - Parameters:
    ///   - present: of the secret that all is to be under.
    ///   - previous: of the one that all was under; nil if the host was not given it.
    ///   - mayBeginChange: false for what does not stay, and changes nothing.
    package init(present: [UInt8] = [], previous: [UInt8]? = nil, mayBeginChange: Bool = true) {
        self.present = present
        self.previous = previous
        self.mayBeginChange = mayBeginChange
    }
}

/// A host's way into the database: one at a time, and only with secrets that open what the others seal.
struct PostgresEntrance {
    let host: PostgresHost
    let secrets: HostSecrets
    /// Whether it may be in before a state that is being moved here is all there: to look at it.
    let mayEnterUnfinished: Bool
    /// Opens a host's audit key, which tells under which secret everything is.
    let open: (_ auditKey: [UInt8]) throws -> SecretAge

    struct Entry {
        /// How many times somebody has become this host.
        let incarnation: Int64
        /// Whether the host seals under its present secret; else under the previous one.
        let isPresentSecretInUse: Bool
        /// The running hosts that lack the present secret.
        let lacking: [String]
    }

    /// Becomes the host.
    ///
    /// A change of the secret begins with the first host that finds that all others which run have the new one as well.
    /// From then on each host that gets in has both, until the last row is under the new one.
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

    /// Whether a change of the secret is to begin.
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

/// Why a host cannot start: the secret is being changed, and it does not have both; nothing was changed.
package struct SecretChangeRefusal: Error, Equatable, CustomStringConvertible {
    /// Which host is changing it, or was cut short.
    let host: String

    package var description: String {
        "host \(host) is changing the secret, or was stopped while it did: start this one with both secrets, or with the "
            + "new one after a host with both has finished that"
    }
}
#endif
