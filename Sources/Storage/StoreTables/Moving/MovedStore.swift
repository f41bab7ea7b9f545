import Keys
import Records
import TableRows

/// The source or the target of a move, with its rows decrypted.
struct MovedStore {
    let session: any StoreSession
    private let host: HostName?
    private let sealing: Sealing

    init(_ session: any StoreSession, of host: HostName?, _ sealing: Sealing) {
        self.session = session
        self.host = host
        self.sealing = sealing
    }

    func reading() -> StoreReading { StoreReading(database: session, sealing: sealing, host: host) }

    func transaction() -> StoreTransaction {
        StoreTransaction(database: session, sealing: sealing, written: Written(), host: host)
    }

    /// A row with its owner, which its encryption needs.
    struct Row {
        let values: [ColumnValue]
        fileprivate let owner: Owner?
    }

    fileprivate struct Owner {
        let enrollment: EnrollmentID
        let row: String
    }

    func digest(of table: MovedTable, _ columns: [String]) throws -> (count: Int, digest: [UInt8]) {
        let digest = try RunningSHA256()
        var count = 0
        try forEachPage(of: table, columns) { rows in
            for row in rows {
                for value in row.values { try digest.update(value.unmistakableBytes) }
            }
            count += rows.count
        }
        return (count, try digest.digest())
    }

    /// Calls `body` for each page of a table's rows, in the order of its key.
    func forEachPage(of table: MovedTable, _ columns: [String], _ body: ([Row]) throws -> Void) throws {
        // The columns include the key, except for those of a comparison.
        let all = columns + table.key.filter { !columns.contains($0) }
        let places = table.key.compactMap { all.firstIndex(of: $0) }
        let reading = reading()
        var last: [ColumnValue]?
        while true {
            let sql = table.page(of: all, host: host, isFirst: last == nil, limit: StateMove.page)
            let rows = try session.rows(sql, StatementValues(last ?? [])) { try read($0, of: table, all) }
            let opened = try converted(rows, of: table, all, by: reading) { cipher, value, column in
                guard let opened = try cipher.opened(value, column: column) else {
                    throw StateMoveError("a row of \(table.name) has an unreadable \(column)")
                }
                return opened
            }
            try body(opened.map { Row(values: Array($0.values.prefix(columns.count)), owner: $0.owner) })
            guard rows.count == StateMove.page, let end = rows.last else { return }
            last = places.map { end.values[$0] }
        }
    }

    func insert(_ rows: [Row], into table: MovedTable, _ columns: [String]) throws {
        let insertion = table.insertion(of: columns, host: host, dialect: session.dialect)
        let transaction = transaction()
        if table.name == EnrollmentColumn.table.name {
            for row in rows { if let owner = row.owner { try transaction.addDataKey(of: owner.enrollment) } }
        }
        let closed = try converted(rows, of: table, columns, by: transaction) { try $0.closed($1, column: $2) }
        for row in closed.dropLast() { try session.execute(insertion, StatementValues(row.values)) }
        // Waiting for the last row keeps at most one page in flight.
        if let last = closed.last { _ = try session.changes(insertion, StatementValues(last.values)) }
    }

    private func read(_ row: any StatementRow, of table: MovedTable, _ columns: [String]) throws -> Row {
        let values = try columns.indices.map { index in
            guard let value = row[index] else {
                throw StateMoveError("a value of \(table.name).\(columns[index]) is of no known type")
            }
            return value
        }
        guard table.owner != nil else { return Row(values: values, owner: nil) }
        guard case .text(let id) = row[columns.count], let enrollment = EnrollmentID(id),
            case .text(let name) = row[columns.count + 1]
        else { throw StateMoveError("a row of \(table.name) belongs to no enrollment") }
        return Row(values: values, owner: Owner(enrollment: enrollment, row: name))
    }

    /// The rows, with their personal values encrypted or decrypted.
    private func converted(
        _ rows: [Row], of table: MovedTable, _ columns: [String], by reading: StoreReading,
        _ convert: (RowCipher, ColumnValue, _ column: String) throws -> ColumnValue
    ) throws -> [Row] {
        guard !table.personal.isEmpty else { return rows }
        try reading.seeDataKeys(of: Set(rows.compactMap { $0.owner?.enrollment }))
        return try rows.map { row in
            guard let owner = row.owner else { return row }
            let cipher = try reading.cipher(table.name, row: owner.row, of: owner.enrollment)
            let values = try zip(row.values, columns).map { value, column in
                table.personal.contains(column) ? try convert(cipher, value, column) : value
            }
            return Row(values: values, owner: owner)
        }
    }
}
