import Keys
package import Records
import TableRows

extension StoreReading {
    /// The page size of a survey, in rows.
    private static let surveyed = 2_000

    struct HeadRow {
        let host: String
        let point: JournalPoint
        let rows: [UInt8]
    }

    /// Reads all sealed rows of one snapshot, and compares their sum with the sums of the hosts' heads.
    ///
    /// Call it first in a database transaction of ``Store/survey(_:)``, which reads on a connection of its own. If the
    /// sums agree, no later write of this process uses a row that is older than in this survey.
    ///
    /// - Parameter isWanted: called before each page. Once it returns false, `CancellationError` is thrown.
    package func surveyRows(while isWanted: () -> Bool = { true }) throws -> RowSurvey {
        // Before the first read: a row that is committed from now on is newer than the snapshot.
        let survey = sealing.seen.beginSurvey()
        let heads = try headRows()
        let ends = Dictionary(heads.map { ($0.host, $0.point.sequence) }) { first, _ in first }
        guard let key = try keptRowKey() else {
            let isEmpty = try heads.isEmpty && database.number("SELECT 1 FROM enrollment LIMIT 1") == nil
            return RowSurvey(heads: ends, silent: heads.map(\.host), agrees: isEmpty, older: [], due: .zero)
        }
        let terms = RowTerms(key)
        var (told, others, silent): (RowSum, RowSum, [String]) = (.zero, .zero, [])
        for head in heads {
            guard let sum = try terms.open(head.rows, of: head.host, at: head.point) else {
                silent.append(head.host)
                continue
            }
            told += sum
            if head.host != chain { others += sum }
        }
        var (found, older): (RowSum, [String]) = (.zero, [])
        try forEachSealedRow(while: isWanted) { row, mark in
            found += try terms.term(of: row, mark)
            let isOlder = sealing.seen.record(row, mark, in: survey)
            if isOlder, older.count < RowSurvey.mostNamed { older.append(row.name) }
        }
        // If a sum was put back with its rows, both may agree and still be old.
        let agrees = silent.isEmpty && found == told && older.isEmpty
        if agrees { sealing.seen.conclude(survey, heads: ends) }
        var due = found
        due -= others
        return RowSurvey(heads: ends, silent: silent, agrees: agrees, older: older, due: due)
    }

    func headRows() throws -> [HeadRow] {
        let sql = "SELECT \(host == nil ? "''" : "host"), seq, digest, rows FROM journal_mark WHERE name = 'head'"
        return try database.rows(sql) { row in
            guard case .text(let host) = row[0], case .number(let sequence) = row[1], case .bytes(let digest) = row[2]
            else { throw JournalMarkColumn.table.unreadable(.rows) }
            let point = JournalPoint(sequence: sequence, digest: digest)
            guard case .bytes(let rows) = row[3] else { return HeadRow(host: host, point: point, rows: []) }
            return HeadRow(host: host, point: point, rows: rows)
        }
    }

    /// Reads the rows in pages, so that each statement stays below its time limit.
    ///
    /// Decodes no row.
    private func forEachSealedRow(while isWanted: () -> Bool, _ body: (SealedRow, RowMark) throws -> Void) throws {
        let sql = "SELECT seq, id, state, version, seal FROM enrollment WHERE seq > ? ORDER BY seq LIMIT ?"
        var (place, count): (Int64, Int) = (.min, Self.surveyed)
        while count == Self.surveyed {
            guard isWanted() else { throw CancellationError() }
            count = 0
            try database.step(sql, [place, Self.surveyed], atMost: .max) { row in
                guard case .text(let state) = row[2], case .number(let version) = row[3], case .bytes(let seal) = row[4]
                else { throw EnrollmentColumn.table.unreadable(.seal) }
                let placed = try placedEnrollment(row)
                try body(.enrollment(placed.id), RowMark(state: state, version: version, seal: seal))
                (place, count) = (placed.place, count + 1)
            }
        }
        let tries =
            "SELECT identity, tries_version, tries_seal FROM key_tries WHERE identity > ? ORDER BY identity LIMIT ?"
        var behind: [UInt8] = []
        count = Self.surveyed
        while count == Self.surveyed {
            guard isWanted() else { throw CancellationError() }
            count = 0
            try database.step(tries, [behind, Self.surveyed], atMost: .max) { row in
                guard case .bytes(let bytes) = row[0], let identity = KeyIdentity(bytes: bytes),
                    case .number(let version) = row[1], case .bytes(let seal) = row[2]
                else { throw KeyTriesColumn.table.unreadable(.identity) }
                try body(.keyTries(identity), RowMark(version: version, seal: seal))
                (behind, count) = (bytes, count + 1)
            }
        }
    }
}
