package import Records
import TableRows

extension StoreReading {
    /// The least rows that are looked at together: in a million, about 15 have the same number for their names.
    private static let namesAtOnce = 32

    /// Returns the enrollments of this name: first those that have not ended, and of them the oldest.
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
        // Ids hold nothing above "z", so "~" bounds the range that has the prefix.
        try enrollments(
            "WHERE id >= ?1 AND id < ?1 || '~' AND (?2 <> 0 OR state <> 'ended')", [prefix, ended, limit],
            order: "ORDER BY id LIMIT ?3")
    }

    /// Whether one that is not over has this name.
    package func isNameTaken(_ name: String) throws -> Bool {
        try hold(.name(name))
        return try !enrollments(named: name, includingEnded: false, limit: 1).isEmpty
    }

    /// The one of this credential, if it is not over.
    package func enrollment(credentialId: [UInt8]) throws -> Enrollment? {
        try enrollments("WHERE credential_id = ? AND state <> 'ended'", [credentialId]).first
    }

    /// Returns the enrollments with an external key that have not ended, oldest first.
    package func enrollmentsOfExternalKeys() throws -> [Enrollment] {
        try enrollments("WHERE key_uri IS NOT NULL AND state <> 'ended'")
    }

    /// Those that are not over and are suspended, known to be damaged or among `ids`, oldest first; of those that are
    /// suspended at most `limit`, the oldest.
    ///
    /// A damaged row is known once it was read, which is at start and once a day at the latest.
    package func troubledEnrollments(among ids: Set<EnrollmentID>, limit: Int) throws -> [EnrollmentID] {
        let known = ids.union(sealing.damaged.all)
        return try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            """
            SELECT id FROM enrollment WHERE state <> 'ended' AND seq IN (
                SELECT seq FROM (
                    SELECT seq FROM enrollment WHERE state = 'suspended' AND state <> 'ended' ORDER BY seq LIMIT ?
                ) AS suspended
                UNION ALL SELECT seq FROM enrollment WHERE id IN (\(database.dialect.elements("?"))))
            ORDER BY seq
            """, [limit, Self.json(known)])
    }

    /// Returns the enrollments that have not ended and came after one, or all if `id` is `nil`: the oldest `limit`.
    ///
    /// Empty after one that is not there.
    package func enrollments(after id: EnrollmentID?, limit: Int) throws -> [Enrollment] {
        guard let id else { return try enrollments("WHERE state <> 'ended'", [limit], order: "ORDER BY seq LIMIT ?") }
        return try enrollments(
            "WHERE state <> 'ended' AND seq > (SELECT seq FROM enrollment WHERE id = ?)", [id.text, limit],
            order: "ORDER BY seq LIMIT ?")
    }

    /// Returns these of the ids whose enrollments have not ended, oldest first.
    package func enrollmentIDs(among ids: Set<EnrollmentID>) throws -> [EnrollmentID] {
        guard !ids.isEmpty else { return [] }
        return try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            """
            SELECT id FROM enrollment WHERE state <> 'ended' AND id IN (\(database.dialect.elements("?"))) ORDER BY seq
            """, [Self.json(ids)])
    }

    /// Returns the enrollments that have not ended and whose row was damaged when it was read last, oldest first.
    package func damagedEnrollments() throws -> [EnrollmentID] { try enrollmentIDs(among: sealing.damaged.all) }

    /// What is weak about those that are not over and not known to be damaged, each with the first `limit` of them, as
    /// their rows say.
    package func weakEnrollments(limit: Int) throws -> [WeakEnrollments] {
        // What a damaged row says does not count.
        let damaged = sealing.damaged.all
        let uncounted =
            damaged.isEmpty
            ? [:] : try marked("AND id IN (\(database.dialect.elements("?")))", [Self.json(damaged)])
        let counts = try marked().map { (marks: $0, count: $1 - (uncounted[$0] ?? 0)) }
        var first: [Int: [PlacedEnrollment]] = [:]
        for (marks, _) in counts {
            first[marks] = try placed(marks: marks, limit: limit + damaged.count).filter { !damaged.contains($0.id) }
        }
        return EnrollmentMark.allCases.compactMap { mark in
            let having = counts.filter { $0.marks & 1 << mark.rawValue != 0 && $0.count > 0 }
            guard !having.isEmpty else { return nil }
            let ids = having.flatMap { first[$0.marks] ?? [] }.sorted { $0.place < $1.place }.prefix(limit).map(\.id)
            return WeakEnrollments(mark, count: having.reduce(0) { $0 + $1.count }, first: ids)
        }
    }

    /// How many have which marks.
    private func marked(_ condition: String = "", _ values: StatementValues = []) throws -> [Int: Int] {
        let marks = StoreSchema.marks(for: database.dialect)
        let sql = "SELECT \(marks), COUNT(*) FROM enrollment WHERE state <> 'ended' \(condition) GROUP BY 1"
        let counts = try database.rows(sql, values) { row in
            guard case .number(let marks) = row[0], case .number(let count) = row[1] else {
                throw EnrollmentColumn.table.unreadable(.state)
            }
            return (Int(clamping: marks), Int(clamping: count))
        }
        return Dictionary(counts) { $1 }
    }

    /// The first that have these marks and no others.
    private func placed(marks: Int, limit: Int) throws -> [PlacedEnrollment] {
        let sql = """
            SELECT seq, id FROM enrollment WHERE \(StoreSchema.marks(for: database.dialect)) = ? AND state <> 'ended'
            ORDER BY seq LIMIT ?
            """
        return try database.rows(sql, [marks, limit], as: placedEnrollment)
    }

    static func json(_ ids: Set<EnrollmentID>) -> String {
        "[\(ids.map { "\"\($0.text)\"" }.joined(separator: ","))]"
    }

    /// Counts the enrollments that have not ended, by their state.
    package func enrollmentTally() throws -> EnrollmentTally {
        var tally = EnrollmentTally()
        let sql = "SELECT state, COUNT(*) FROM enrollment WHERE state <> 'ended' GROUP BY state"
        for (state, count) in try database.rows(sql, as: { ($0[0], $0[1]) }) {
            guard case .text(let state) = state, case .number(let number) = count, let count = Int(exactly: number)
            else {
                throw EnrollmentColumn.table.unreadable(.state)
            }
            switch state {
            case "active": tally.active = count
            case "suspended": tally.suspended = count
            default: tally.enrolling += count
            }
        }
        tally.signedElsewhere = try database.count(
            "SELECT COUNT(*) FROM enrollment WHERE sign_count_raised_elsewhere = 1 AND state <> 'ended'")
        return tally
    }

    /// Counts the enrollments that have not ended.
    package func enrollmentCount() throws -> Int {
        try database.count("SELECT COUNT(*) FROM enrollment WHERE state <> 'ended'")
    }
}
