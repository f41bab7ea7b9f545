package import Records
import TableRows

extension StoreReading {
    /// The smallest page of a look-up by name.
    ///
    /// Among a million names, about 15 share a bucket.
    private static let namesAtOnce = 32

    /// Returns the enrollments of this name, ended ones last, each group oldest first.
    package func enrollments(named name: String, includingEnded ended: Bool, limit: Int) throws -> [Enrollment] {
        let bucket = try nameBucket(of: name) ?? 0
        let size = max(limit, Self.namesAtOnce)
        var found: [Enrollment] = []
        for state in ended ? ["state <> 'ended'", "state = 'ended'"] : ["state <> 'ended'"] {
            var last: EnrollmentID?
            // A few other names are in the same bucket.
            while found.count < limit {
                let place = last == nil ? "0" : "(SELECT seq FROM enrollment WHERE id = ?3)"
                let page = try enrollments(
                    "WHERE name_bucket IN (0, ?1) AND \(state) AND seq > \(place)",
                    last.map { [bucket, size, $0.text] } ?? [bucket, size], order: "ORDER BY seq LIMIT ?2")
                found += page.filter { $0.name == name }
                last = page.last?.id
                guard page.count == size else { break }
            }
        }
        return Array(found.prefix(limit))
    }

    /// Returns the enrollments whose id has this prefix.
    package func enrollments(beginning prefix: String, includingEnded ended: Bool, limit: Int) throws -> [Enrollment] {
        // Ids contain no character above "z", so "~" is the upper bound of the prefix's range.
        try enrollments(
            "WHERE id >= ?1 AND id < ?1 || '~' AND (?2 <> 0 OR state <> 'ended')", [prefix, ended, limit],
            order: "ORDER BY id LIMIT ?3")
    }

    /// Whether an enrollment that has not ended has this name.
    package func isNameTaken(_ name: String) throws -> Bool {
        try lock(.name(name))
        return try !enrollments(named: name, includingEnded: false, limit: 1).isEmpty
    }

    /// The enrollment with this credential.
    ///
    /// `nil` if there is none, or if it has ended.
    package func enrollment(credentialId: [UInt8]) throws -> Enrollment? {
        try enrollments("WHERE credential_id = ? AND state <> 'ended'", [credentialId]).first
    }

    /// Returns the enrollments with an external key that have not ended, oldest first.
    package func enrollmentsOfExternalKeys() throws -> [Enrollment] {
        try enrollments("WHERE key_uri IS NOT NULL AND state <> 'ended'")
    }

    /// Returns the oldest `limit` enrollments after `id` that have not ended.
    ///
    /// `nil` starts with the first one. Empty if `id` does not exist.
    package func enrollments(after id: EnrollmentID?, limit: Int) throws -> [Enrollment] {
        guard let id else { return try enrollments("WHERE state <> 'ended'", [limit], order: "ORDER BY seq LIMIT ?") }
        return try enrollments(
            "WHERE state <> 'ended' AND seq > (SELECT seq FROM enrollment WHERE id = ?)", [id.text, limit],
            order: "ORDER BY seq LIMIT ?")
    }

    /// Returns the ids among `ids` whose enrollments have not ended, oldest first.
    package func enrollmentIDs(among ids: Set<EnrollmentID>) throws -> [EnrollmentID] {
        guard !ids.isEmpty else { return [] }
        return try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            """
            SELECT id FROM enrollment WHERE state <> 'ended' AND id IN (\(database.dialect.elements("?"))) ORDER BY seq
            """, [Self.json(ids)])
    }

    static func json(_ ids: Set<EnrollmentID>) -> String {
        "[\(ids.map { "\"\($0.text)\"" }.joined(separator: ","))]"
    }

    /// Counts the enrollments that have not ended.
    package func enrollmentCount() throws -> Int {
        try database.count("SELECT COUNT(*) FROM enrollment WHERE state <> 'ended'")
    }
}
