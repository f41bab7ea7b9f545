package import Records
import TableRows

/// What several hosts of one database write and read of a change of their secret.
package enum SecretChangeStatement {
    /// Begins one, by a host that seals under the new secret; a change that has begun goes on.
    package static let begin = """
        INSERT INTO secret_change (one, host, present, previous) SELECT 1, name, seals, opens FROM host WHERE name = ?
        ON CONFLICT (one) DO NOTHING
        """
    /// Ends one that has changed nothing: no host has found all to be openable.
    package static let abandon = "DELETE FROM secret_change WHERE is_surveyed = 0"
    /// Lets a host without the new secret that does not run, and wakes later, write nothing.
    ///
    /// A negative number says so: no process is the host until one enters again.
    package static let shutOutLacking = """
        UPDATE host SET incarnation = -abs(incarnation) - 1
        WHERE name <> ?1 AND alive_until <= clock_timestamp() AND seals <> ?2 AND opens <> ?2
        """
    /// The hosts that run and seal under the previous secret.
    fileprivate static let sealers = """
        SELECT name FROM host WHERE alive_until > clock_timestamp() AND seals <> (SELECT present FROM secret_change)
        ORDER BY name
        """
    /// Takes the work over from a host that does not run any more.
    fileprivate static let takeOver = """
        UPDATE secret_change SET host = ?
        WHERE host NOT IN (SELECT name FROM host WHERE alive_until > clock_timestamp())
        """
    /// Lets a host that was frozen, and wakes later, write nothing under the previous secret.
    fileprivate static let shutOut = """
        UPDATE host SET incarnation = -abs(incarnation) - 1
        WHERE alive_until <= clock_timestamp() AND seals <> (SELECT present FROM secret_change)
        """
}

extension StoreReading {
    /// Whether a change of the secret is under way among several hosts, and cannot be given up any more.
    package func isSecretChangeSurveyed() throws -> Bool {
        guard host != nil else { return false }
        return try database.number("SELECT count(*) FROM secret_change WHERE is_surveyed = 1") == 1
    }

    /// Whether the store's files may have in their free space what a change of the secret has written over.
    package func isScrubDue() throws -> Bool {
        guard host == nil else { return false }
        return try database.number("SELECT count(*) FROM scrub_due") != 0
    }
}

extension StoreTransaction {
    /// Notes that all opens under one of the two secrets: from then on a change that has begun is not given up.
    ///
    /// False if no change is under way among the hosts that share the store; true if it has one host.
    package func noteSecretSurvey() throws -> Bool {
        guard host != nil else { return true }
        return try database.changes("UPDATE secret_change SET is_surveyed = 1", []) == 1
    }

    /// Finds the host that is to change the rows now, and shuts out hosts that seal under the previous secret and do not run.
    package func turnOfSecretChange() throws -> SecretChangeTurn {
        guard let host else { return .ours }
        // Held, so that one host at a time looks. Whoever starts from now on seals under the new secret.
        guard try database.text("SELECT host FROM secret_change FOR UPDATE") != nil else { return .over }
        try database.run(SecretChangeStatement.shutOut)
        // After that: one that was shut out too late to be refused runs, and is seen.
        let sealers = try database.rows(SecretChangeStatement.sealers) { row in
            if case .text(let name) = row[0] { name } else { "" }
        }
        guard sealers.isEmpty else { return .waits(for: sealers) }
        try database.run(SecretChangeStatement.takeOver, [host.text])
        return try database.text("SELECT host FROM secret_change") == host.text ? .ours : .another
    }

    /// Brings the audit keys of the other hosts' chains under the present secret, and lets hosts start that have it alone.
    ///
    /// A scrub is due from then on, if the store is a file.
    ///
    /// - Parameter rewrapped: a key under the present secret; nil if it is already.
    package func concludeSecretChange(_ rewrapped: ([UInt8]) throws -> [UInt8]?) throws {
        guard host != nil else { return try database.run("INSERT INTO scrub_due VALUES (1) ON CONFLICT DO NOTHING") }
        for old in try sealedAuditKeysOfOthers() {
            guard let new = try rewrapped(old) else { continue }
            try database.run("UPDATE audit_key SET sealed = ? WHERE sealed = ?", [new, old])
        }
        try database.run("DELETE FROM secret_change")
    }
}
