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
        let known = ids.union(sealing.damaged.all)
        return try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            """
            SELECT id FROM enrollment WHERE state <> 'ended' AND seq IN (
                SELECT seq FROM enrollment WHERE state = 'suspended' AND state <> 'ended'
                UNION ALL SELECT seq FROM enrollment WHERE id IN (SELECT value FROM json_each(?)))
            ORDER BY seq
            """, [Self.json(known)])
    }

    func enrollments(after id: EnrollmentID?, limit: Int) throws -> [Enrollment] {
        let after = id == nil ? "?1 IS NULL" : "seq > (SELECT seq FROM enrollment WHERE id = ?1)"
        return try enrollments(
            "WHERE state <> 'ended' AND \(after)", [id?.text, limit], order: "ORDER BY seq LIMIT ?2")
    }

    func enrollments(writtenAfter sequence: Int64) throws -> [Enrollment] {
        try enrollments("WHERE state <> 'ended' AND journal_seq > ?", [sequence])
    }

    func enrollmentIDs(at stage: EnrollmentStage) throws -> [EnrollmentID] {
        let condition =
            switch stage {
            case .active: "state = 'active' AND state <> 'ended'"
            case .enrolling: "state = 'enrolling' AND state <> 'ended'"
            case .keyToRemove: "key_removed = 0 AND state IN ('keyless', 'ended')"
            }
        return try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id, "SELECT id FROM enrollment WHERE \(condition) ORDER BY seq")
    }

    func enrollmentIDs(among ids: Set<EnrollmentID>) throws -> [EnrollmentID] {
        guard !ids.isEmpty else { return [] }
        return try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            """
            SELECT id FROM enrollment WHERE state <> 'ended' AND id IN (SELECT value FROM json_each(?)) ORDER BY seq
            """, [Self.json(ids)])
    }

    func damagedEnrollments() throws -> [EnrollmentID] { try enrollmentIDs(among: sealing.damaged.all) }

    func weakEnrollments(limit: Int) throws -> [WeakEnrollments] {
        // What a damaged row says does not count.
        let damaged = sealing.damaged.all
        let uncounted =
            damaged.isEmpty ? [:] : try marked("AND id IN (SELECT value FROM json_each(?))", [Self.json(damaged)])
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

    private struct PlacedEnrollment {
        let place: Int64
        let id: EnrollmentID
    }

    /// How many have which marks.
    private func marked(_ condition: String = "", _ arguments: StatementArguments = []) throws -> [Int: Int] {
        let statement = try database.cachedStatement(
            sql: "SELECT \(Schema.marks), COUNT(*) FROM enrollment WHERE state <> 'ended' \(condition) GROUP BY 1")
        return Dictionary(try Row.fetchAll(statement, arguments: arguments).map { ($0[0], $0[1]) }) { $1 }
    }

    /// The first that have these marks and no others.
    private func placed(marks: Int, limit: Int) throws -> [PlacedEnrollment] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT seq, id FROM enrollment WHERE \(Schema.marks) = ? AND state <> 'ended' ORDER BY seq LIMIT ?
                """)
        return try Row.fetchAll(statement, arguments: [marks, limit]).map { row in
            guard let id = EnrollmentID(row[1]) else { throw EnrollmentColumn.table.unreadable(.id) }
            return PlacedEnrollment(place: row[0], id: id)
        }
    }

    private static func json(_ ids: Set<EnrollmentID>) -> String {
        "[\(ids.map { "\"\($0.text)\"" }.joined(separator: ","))]"
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
