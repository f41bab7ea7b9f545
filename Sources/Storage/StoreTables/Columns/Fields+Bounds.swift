import Records
import TableRows
import TextAndTime

extension Fields {
    /// A time that this agent's clock gave: seconds since 1970, within `BoundedTime.range`.
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
        // Nobody counts up to half of what fits, so one more always fits.
        guard (0...Int64.max / 2).contains(value) else { throw unreadable(column) }
        return value
    }
}

extension StatementSession {
    /// The ids that a statement gives in its only column.
    func enrollmentIDs<Column>(
        in table: TableLayout<Column>, _ column: Column, _ sql: String, _ values: StatementValues = []
    ) throws -> [EnrollmentID] {
        try rows(sql, values) { row in
            guard case .text(let text) = row[0], let id = EnrollmentID(text) else { throw table.unreadable(column) }
            return id
        }
    }

    /// How many there are, as a statement's `COUNT(*)` says.
    func count(_ sql: String, _ values: StatementValues = []) throws -> Int {
        Int(clamping: try number(sql, values) ?? 0)
    }
}
