#if PostgreSQL
import CPostgres
import TableRows

/// A result of libpq (`PGresult`).
@safe struct PostgresResult: ~Copyable {
    private let pointer: OpaquePointer  // <PGresult>

    /// Takes ownership: the caller must not free the result.
    init(takingOwnershipOf pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

    deinit { unsafe PQclear(pointer) }

    var status: ExecStatusType { unsafe PQresultStatus(pointer) }

    /// The number of rows that the statement has changed or selected.
    var count: Int {
        guard let digits = unsafe PQcmdTuples(pointer) else { return 0 }
        return unsafe Int(String(cString: digits)) ?? 0
    }

    var rows: [PostgresConnection.Row] {
        get throws(PostgresError) {
            let columns = unsafe PQnfields(pointer)
            var rows: [PostgresConnection.Row] = []
            for row in 0..<(unsafe PQntuples(pointer)) {
                var values: PostgresConnection.Row = []
                values.reserveCapacity(Int(columns))
                for column in 0..<columns { values.append(try value(row, column)) }
                rows.append(values)
            }
            return rows
        }
    }

    private func value(_ row: Int32, _ column: Int32) throws(PostgresError) -> ColumnValue {
        guard unsafe PQgetisnull(pointer, row, column) == 0 else { return .null }
        let content = unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(pointer, row, column), count: Int(PQgetlength(pointer, row, column)))
        let type = unsafe PQftype(pointer, column)
        guard let value = unsafe ColumnValue(postgresType: type, content) else {
            let name = unsafe PQfname(pointer, column).map { unsafe String(cString: $0) } ?? ""
            throw PostgresError(
                message: "the column \(name) has a value of type \(type) (pg_type.oid) that cannot be read; cast it to "
                    + "bigint, integer, boolean, text or bytea")
        }
        return value
    }

    /// The error of a failed statement.
    var problem: PostgresError {
        // PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY and PG_DIAG_CONSTRAINT_NAME. PG_DIAG_MESSAGE_DETAIL is left out,
        // because it contains values of rows.
        let state = field("C")
        // The message of a data exception may quote the value.
        let isOfData = state?.hasPrefix("22") ?? false
        let message = isOfData ? "a value is not one that its parameter or column takes" : field("M")
        return PostgresError(
            state: state, message: unsafe message ?? Self.line(PQresultErrorMessage(pointer)), constraint: field("n"))
    }

    private func field(_ code: UnicodeScalar) -> String? {
        guard let text = unsafe PQresultErrorField(pointer, Int32(code.value)) else { return nil }
        return unsafe Self.line(text)
    }

    /// A message of libpq or the server as one line.
    static func line(_ message: UnsafePointer<CChar>?) -> String {
        guard let message = unsafe message else { return "no reason" }
        let lines = unsafe String(cString: message).split(whereSeparator: \.isNewline).map { line in
            line.drop { $0.isWhitespace }
        }
        return lines.isEmpty ? "no reason" : lines.joined(separator: "; ")
    }
}
#endif
