package import Records
import TableRows

/// The queries of `status` and `doctor` about all enrollments.
///
/// No decision uses them.
package struct EnrollmentHealth {
    private let reading: StoreReading

    package init(_ reading: StoreReading) { self.reading = reading }

    /// Returns the enrollments that are suspended, known to be damaged, or among `ids`, oldest first.
    ///
    /// Includes at most `limit` suspended enrollments, the oldest, and no ended ones.
    ///
    /// A damaged row is known once it was read: at start, and once a day at the latest.
    package func troubled(among ids: Set<EnrollmentID>, limit: Int) throws -> [EnrollmentID] {
        let known = ids.union(reading.sealing.damaged.all)
        return try reading.database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            """
            SELECT id FROM enrollment WHERE state <> 'ended' AND seq IN (
                SELECT seq FROM (
                    SELECT seq FROM enrollment WHERE state = 'suspended' AND state <> 'ended' ORDER BY seq LIMIT ?
                ) AS suspended
                UNION ALL SELECT seq FROM enrollment WHERE id IN (\(reading.database.dialect.elements("?"))))
            ORDER BY seq
            """, [limit, StoreReading.json(known)])
    }

    /// Returns the enrollments that have not ended and whose rows were damaged when last read, oldest first.
    package func damaged() throws -> [EnrollmentID] { try reading.enrollmentIDs(among: reading.sealing.damaged.all) }

    /// Returns the weaknesses that rows show, each with its first `limit` enrollments.
    ///
    /// Ended enrollments and enrollments that are known to be damaged do not count.
    package func weak(limit: Int) throws -> [WeakEnrollments] {
        let damaged = reading.sealing.damaged.all
        let uncounted =
            damaged.isEmpty
            ? [:] : try marked("AND id IN (\(reading.database.dialect.elements("?")))", [StoreReading.json(damaged)])
        let counts = try marked().map { (marks: $0, count: $1 - (uncounted[$0] ?? 0)) }
        var first: [Int: [StoreReading.PlacedEnrollment]] = [:]
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

    /// Counts the rows by their marks.
    private func marked(_ condition: String = "", _ values: StatementValues = []) throws -> [Int: Int] {
        let marks = StoreSchema.marks(for: reading.database.dialect)
        let sql = "SELECT \(marks), COUNT(*) FROM enrollment WHERE state <> 'ended' \(condition) GROUP BY 1"
        let counts = try reading.database.rows(sql, values) { row in
            guard case .number(let marks) = row[0], case .number(let count) = row[1] else {
                throw EnrollmentColumn.table.unreadable(.state)
            }
            return (Int(clamping: marks), Int(clamping: count))
        }
        return Dictionary(counts) { $1 }
    }

    /// Returns the first rows that have exactly these marks.
    private func placed(marks: Int, limit: Int) throws -> [StoreReading.PlacedEnrollment] {
        let sql = """
            SELECT seq, id FROM enrollment WHERE \(StoreSchema.marks(for: reading.database.dialect)) = ? AND state <> 'ended'
            ORDER BY seq LIMIT ?
            """
        return try reading.database.rows(sql, [marks, limit], as: reading.placedEnrollment)
    }

    /// Counts the enrollments that have not ended, by their state.
    package func tally() throws -> EnrollmentTally {
        var tally = EnrollmentTally()
        let sql = "SELECT state, COUNT(*) FROM enrollment WHERE state <> 'ended' GROUP BY state"
        for (state, count) in try reading.database.rows(sql, as: { ($0[0], $0[1]) }) {
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
        tally.signedElsewhere = try reading.database.count(
            "SELECT COUNT(*) FROM enrollment WHERE sign_count_raised_elsewhere = 1 AND state <> 'ended'")
        return tally
    }
}
