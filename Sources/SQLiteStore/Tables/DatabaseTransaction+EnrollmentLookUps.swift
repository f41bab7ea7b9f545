import Authenticator
import GRDB
import TableRows

extension DatabaseTransaction {
    func enrollments(named name: String, includingEnded ended: Bool, limit: Int) throws -> [Enrollment] {
        try enrollments(
            "WHERE name = ? AND (? OR state <> 'ended')", [name, ended, limit],
            order: "ORDER BY state = 'ended', seq LIMIT ?")
    }

    func enrollments(beginning prefix: String, includingEnded ended: Bool, limit: Int) throws -> [Enrollment] {
        // Ids hold nothing above "z", so "~" bounds the range that has the prefix.
        try enrollments(
            "WHERE id >= ?1 AND id < ?1 || '~' AND (?2 OR state <> 'ended')", [prefix, ended, limit],
            order: "ORDER BY id LIMIT ?3")
    }

    func isNameTaken(_ name: String) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT seq FROM enrollment WHERE name = ? AND state <> 'ended' LIMIT 1")
        return try Int64.fetchOne(statement, arguments: [name]) != nil
    }

    func enrollment(credentialId: [UInt8]) throws -> Enrollment? {
        try enrollments("WHERE credential_id = ? AND state <> 'ended'", [credentialId.blob]).first
    }

    func enrollmentsOfExternalKeys() throws -> [Enrollment] {
        try enrollments("WHERE key_uri IS NOT NULL AND state <> 'ended'")
    }

    func troubledEnrollments(among ids: Set<EnrollmentID>) throws -> [EnrollmentID] {
        let known = ids.union(sealing.damaged.all).map { "\"\($0.text)\"" }.joined(separator: ",")
        return try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            """
            SELECT id FROM enrollment WHERE state <> 'ended' AND seq IN (
                SELECT seq FROM enrollment WHERE state = 'suspended' AND state <> 'ended'
                UNION ALL SELECT seq FROM enrollment WHERE id IN (SELECT value FROM json_each(?)))
            ORDER BY seq
            """, ["[\(known)]"])
    }

    func enrollmentTally() throws -> EnrollmentTally {
        var tally = EnrollmentTally()
        let counts = try Row.fetchAll(
            try database.cachedStatement(
                sql: "SELECT state, COUNT(*) FROM enrollment WHERE state <> 'ended' GROUP BY state"))
        for row in counts {
            let count: Int = row[1]
            switch row[0] as String {
            case "active": tally.active = count
            case "suspended": tally.suspended = count
            default: tally.enrolling += count
            }
        }
        let elsewhere = try database.cachedStatement(
            sql: "SELECT COUNT(*) FROM enrollment WHERE sign_count_raised_elsewhere = 1 AND state <> 'ended'")
        tally.signedElsewhere = try Int.fetchOne(elsewhere) ?? 0
        return tally
    }

    func enrollmentCount() throws -> Int {
        let statement = try database.cachedStatement(sql: "SELECT COUNT(*) FROM enrollment WHERE state <> 'ended'")
        return try Int.fetchOne(statement) ?? 0
    }
}
