package import Records
import TableRows

/// The SQL of a change of the secret that the hosts of one database share.
package enum SecretChangeStatement {
    /// Begins a change, by a host that seals under the new secret.
    ///
    /// A change that has begun continues.
    package static let begin = """
        INSERT INTO secret_change (one, host, present, previous) SELECT 1, name, seals, opens FROM host WHERE name = ?
        ON CONFLICT (one) DO NOTHING
        """
    /// Ends a change that has changed no row: no host has verified yet that every value opens.
    package static let abandon = "DELETE FROM secret_change WHERE is_surveyed = 0"
    /// Revokes the right to write of silent hosts without the new secret, in case one of them was frozen and wakes up.
    ///
    /// A negative incarnation marks the host as unused until a process enters again.
    package static let shutOutLacking = """
        UPDATE host SET incarnation = -abs(incarnation) - 1
        WHERE name <> ?1 AND alive_until <= clock_timestamp() AND seals <> ?2 AND opens <> ?2
        """
    /// The running hosts that seal under the previous secret.
    fileprivate static let sealers = """
        SELECT name FROM host WHERE alive_until > clock_timestamp() AND seals <> (SELECT present FROM secret_change)
        ORDER BY name
        """
    /// Takes over the work of a host that has stopped.
    fileprivate static let takeOver = """
        UPDATE secret_change SET host = ?
        WHERE host NOT IN (SELECT name FROM host WHERE alive_until > clock_timestamp())
        """
    /// Revokes the right to write of silent hosts that would seal under the previous secret when they wake up.
    fileprivate static let shutOut = """
        UPDATE host SET incarnation = -abs(incarnation) - 1
        WHERE alive_until <= clock_timestamp() AND seals <> (SELECT present FROM secret_change)
        """
}

extension StoreReading {
    /// Whether a change of the hosts' secret is running that can no longer be abandoned.
    package func isSecretChangeSurveyed() throws -> Bool {
        guard host != nil else { return false }
        return try database.number("SELECT count(*) FROM secret_change WHERE is_surveyed = 1") == 1
    }

    /// Whether free space of the store's files may still contain values that a change of the secret has overwritten.
    package func isScrubDue() throws -> Bool {
        guard host == nil else { return false }
        return try database.number("SELECT count(*) FROM scrub_due") != 0
    }
}

extension StoreTransaction {
    /// Records that every value opens under one of the two secrets.
    ///
    /// A change can no longer be abandoned after that. Returns true if the store has one host. With several hosts,
    /// returns false if they are not changing their secret.
    package func noteSecretSurvey() throws -> Bool {
        guard host != nil else { return true }
        return try database.changes("UPDATE secret_change SET is_surveyed = 1", []) == 1
    }

    /// Returns the host that is to reseal the rows now.
    ///
    /// Shuts out silent hosts that seal under the previous secret.
    package func turnOfSecretChange() throws -> SecretChangeTurn {
        guard let host else { return .ours }
        // The row lock lets one host at a time decide. A host that starts from now on seals under the new secret.
        guard try database.text("SELECT host FROM secret_change FOR UPDATE") != nil else { return .over }
        try database.execute(SecretChangeStatement.shutOut)
        // Asked after the shut-out: a host that renewed its lease just before that counts as running, and is found.
        let sealers = try database.rows(SecretChangeStatement.sealers) { row in
            if case .text(let name) = row[0] { name } else { "" }
        }
        guard sealers.isEmpty else { return .waits(for: sealers) }
        try database.execute(SecretChangeStatement.takeOver, [host.text])
        return try database.text("SELECT host FROM secret_change") == host.text ? .ours : .another
    }

    /// Ends a change of the secret: reseals the other hosts' audit keys.
    ///
    /// Hosts can then start with the new secret alone. If the store is a file, a scrub is due from then on.
    ///
    /// - Parameter rewrapped: returns the key under the new secret. `nil` if it is under the new secret already.
    package func concludeSecretChange(_ rewrapped: ([UInt8]) throws -> [UInt8]?) throws {
        guard host != nil else {
            return try database.execute("INSERT INTO scrub_due VALUES (1) ON CONFLICT DO NOTHING")
        }
        for old in try sealedAuditKeysOfOthers() {
            guard let new = try rewrapped(old) else { continue }
            try database.execute("UPDATE audit_key SET sealed = ? WHERE sealed = ?", [new, old])
        }
        try database.execute("DELETE FROM secret_change")
    }
}
