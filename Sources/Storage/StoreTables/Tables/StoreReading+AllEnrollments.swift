package import Records
import TableRows

/// Queries over all enrollments, of which there may be millions, in pages.
///
/// One statement for all would exceed the time limit of a statement if the rows have to be read from disk.
extension StoreReading {
    /// The most enrollments that one statement reads.
    fileprivate static let span = 20_000

    /// Returns the first `limit` enrollments after `place`, oldest first.
    ///
    /// `nil` starts with the first one.
    ///
    /// - Parameter ended: whether ended enrollments are included.
    /// - Returns: `nil` if there are no more enrollments.
    package func enrollmentPage(
        after place: Int64?, limit: Int, includingEnded ended: Bool
    ) throws -> EnrollmentPage? {
        let condition = "\(ended ? "" : "state <> 'ended' AND ")seq > ?"
        // A database transaction that only reads has one snapshot, so both statements see the same rows.
        let last = "SELECT MAX(seq) FROM (SELECT seq FROM enrollment WHERE \(condition) ORDER BY seq LIMIT ?) AS span"
        guard let end = try database.number(last, [place ?? .min, limit]) else { return nil }
        let page = try enrollments("WHERE \(condition) AND seq <= ?", [place ?? .min, end])
        return EnrollmentPage(enrollments: page, place: end)
    }

    /// The ids of all enrollments at a stage, oldest first.
    package func enrollmentIDs(at stage: EnrollmentStage) throws -> [EnrollmentID] {
        try enrollmentIDs(at: stage, span: Self.span)
    }

    func enrollmentIDs(at stage: EnrollmentStage, span: Int) throws -> [EnrollmentID] {
        let condition =
            switch stage {
            case .active: "state = 'active' AND state <> 'ended'"
            case .enrolling: "state = 'enrolling' AND state <> 'ended'"
            case .subscribed: "state = 'active' AND id IN (SELECT enrollment_id FROM push_subscription)"
            }
        let sql = "SELECT seq, id FROM enrollment WHERE \(condition) AND seq > ? ORDER BY seq LIMIT ?"
        var (found, place, isLast): ([EnrollmentID], Int64, Bool) = ([], 0, false)
        while !isLast {
            let page = try database.rows(sql, [place, span], as: placedEnrollment)
            found += page.map(\.id)
            place = page.last?.place ?? place
            isLast = page.count < span
        }
        return found
    }

    /// The enrollments that began by `time`, in seconds since 1970, and have no answer of the issuer yet, oldest first.
    package func enrollmentIDs(enrollingStartedBy time: Int64) throws -> [EnrollmentID] {
        try database.enrollmentIDs(
            in: EnrollmentColumn.table, .id,
            "SELECT id FROM enrollment WHERE state = 'enrolling' AND state <> 'ended' AND started_at <= ? ORDER BY seq",
            [time])
    }

    /// Returns the standings of at most `limit` enrollments before `place`, newest first, including ended ones.
    ///
    /// If `place` is `nil`, starts with the newest enrollment. Scans the primary key backwards.
    package func standings(before place: Int64?, limit: Int) throws -> [EnrollmentStanding] {
        let sql = "SELECT seq, id, state FROM enrollment WHERE seq < ? ORDER BY seq DESC LIMIT ?"
        return try database.rows(sql, [place ?? Int64.max, limit]) { row in
            let placed = try placedEnrollment(row)
            guard case .text(let state) = row[2] else { throw EnrollmentColumn.table.unreadable(.state) }
            let isSuspended: Bool? =
                switch state {
                case "active": false
                case "suspended": true
                default: nil
                }
            return EnrollmentStanding(place: placed.place, id: placed.id, isSuspended: isSuspended)
        }
    }

    struct PlacedEnrollment {
        let place: Int64
        let id: EnrollmentID
    }

    /// Reads a row of `seq` and `id`.
    func placedEnrollment(_ row: any StatementRow) throws -> PlacedEnrollment {
        guard case .number(let place) = row[0], case .text(let text) = row[1], let id = EnrollmentID(text) else {
            throw EnrollmentColumn.table.unreadable(.id)
        }
        return PlacedEnrollment(place: place, id: id)
    }
}

extension StoreTransaction {
    /// Keeps the next `limit` enrollments from signing until their issuer has said which signCount it accepted.
    ///
    /// The seal does not cover the column that this sets.
    ///
    /// - Parameter place: the result of the previous call. `nil` for the first.
    /// - Returns: the place of the last enrollment. `nil` if there are no more.
    package func doubtSignCounts(after place: Int64?, limit: Int) throws -> Int64? {
        let last = "SELECT MAX(seq) FROM (SELECT seq FROM enrollment WHERE seq > ? ORDER BY seq LIMIT ?) AS span"
        guard let end = try database.number(last, [place ?? 0, limit]) else { return nil }
        written?.state.enrollments = [:]
        try database.execute(
            """
            UPDATE enrollment SET refused_sign_count = sign_count
            WHERE seq > ? AND seq <= ? AND state IN ('active', 'suspended') AND refused_sign_count IS NULL
            """, [place ?? 0, end])
        return end
    }
}
