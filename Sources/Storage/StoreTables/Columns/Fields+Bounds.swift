import Records
import TableRows
import TextAndTime

extension Fields {
    /// A time of this agent's clock, in seconds since 1970, within `BoundedTime.range`.
    func time(_ column: Column) throws -> Int64 {
        guard let value = try optionalTime(column) else { throw unreadable(column) }
        return value
    }

    func optionalTime(_ column: Column) throws -> Int64? {
        guard let value: Int64 = try optionalNumber(column) else { return nil }
        guard BoundedTime.range.contains(value) else { throw unreadable(column) }
        return value
    }

    /// A number that is counted up from 0, one at a time.
    func count(_ column: Column) throws -> Int64 {
        let value: Int64 = try number(column)
        // No counter reaches half of the range, so adding 1 never overflows.
        guard (0...Int64.max / 2).contains(value) else { throw unreadable(column) }
        return value
    }
}

extension StatementSession {
    /// The ids in the only column of a query.
    func enrollmentIDs<Column>(
        in table: TableLayout<Column>, _ column: Column, _ sql: String, _ values: StatementValues = []
    ) throws -> [EnrollmentID] {
        try rows(sql, values) { row in
            guard case .text(let text) = row[0], let id = EnrollmentID(text) else { throw table.unreadable(column) }
            return id
        }
    }

    /// The result of a `COUNT(*)` query.
    func count(_ sql: String, _ values: StatementValues = []) throws -> Int {
        Int(clamping: try number(sql, values) ?? 0)
    }
}
