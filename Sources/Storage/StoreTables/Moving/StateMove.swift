package import Records
import TableRows

/// Copies all rows of one store into an empty one, in one database transaction of each.
///
/// The source stays unchanged. The copied rows are read again and compared with the source.
package struct StateMove {
    /// The page size, in rows.
    static let page = 200

    private let source: MovedStore
    private let target: MovedStore

    /// The number of copied rows, by table.
    package struct Tally: Sendable, Equatable {
        package internal(set) var rows: [String: Int] = [:]
    }

    /// - Parameters:
    ///   - sourceHost: the host whose journal chain is copied. `nil` if the source has one chain.
    ///   - targetHost: the host that gets the chain. `nil` if the target has one chain.
    ///   - seals: the seals of both stores, because the secret stays the same.
    ///   - dataKeys: the seals of the data keys of both. Each enrollment gets a new data key.
    package init(
        from source: any StoreSession, of sourceHost: HostName?, to target: any StoreSession,
        of targetHost: HostName?, seals: any RowSeals, dataKeys: any DataKeySeals
    ) {
        self.source = MovedStore(source, of: sourceHost, Sealing(seals: seals, dataKeys: dataKeys))
        self.target = MovedStore(target, of: targetHost, Sealing(seals: seals, dataKeys: dataKeys))
    }

    /// - Parameter conclude: the last writes in the target.
    /// - Throws: ``StateMoveError``, an error of a database, or an error of `conclude`.
    package func move(concluding conclude: (StoreTransaction) throws -> Void = { _ in }) throws -> Tally {
        var tally = Tally()
        // Rows that are not as the agent wrote them must not be sealed anew.
        if let problem = try source.reading().surveyRows().problem {
            throw StateMoveError("\(problem): nothing is moved before a person has looked (oobctl audit verify)")
        }
        for table in MovedTable.all {
            let columns = try table.columns(in: source.session)
            guard !columns.isEmpty, try table.columns(in: target.session) == columns else {
                throw StateMoveError("table \(table.name) has other columns in the two databases")
            }
            tally.rows[table.name] = try copy(table, columns)
        }
        // Before any row is rewritten, because a table may draw numbers for that.
        for table in MovedTable.all { try copyCounter(of: table) }
        try sealEnrollments()
        for table in MovedTable.all {
            let columns = try table.columns(in: source.session).filter { !table.written.contains($0) }
            let (read, written) = (try source.digest(of: table, columns), try target.digest(of: table, columns))
            guard read.count == written.count, read.digest == written.digest else {
                throw StateMoveError(
                    "table \(table.name) is not what was copied: \(read.count) rows became \(written.count)")
            }
        }
        let transaction = target.transaction()
        try transaction.set(rowSum: transaction.surveyRows().due)
        try conclude(transaction)
        try transaction.vouchForRows()
        return tally
    }

    private func copy(_ table: MovedTable, _ columns: [String]) throws -> Int {
        var count = 0
        try source.forEachPage(of: table, columns) { rows in
            try target.insert(rows, into: table, columns)
            count += rows.count
        }
        return count
    }

    /// Copies the identity counter, so that a number that the source has used is never used again.
    private func copyCounter(of table: MovedTable) throws {
        guard let column = table.counter else { return }
        let greatest = "SELECT MAX(\(column)) FROM \(table.name)"
        let given =
            switch source.session.dialect {
            case .sqlite: try source.session.number("SELECT seq FROM sqlite_sequence WHERE name = ?", [table.name])
            case .postgres:
                try source.session.number(
                    "SELECT pg_sequence_last_value(CAST(pg_get_serial_sequence(?1, ?2) AS REGCLASS))",
                    [table.name, column])
            }
        guard let last = [given, try source.session.number(greatest)].compactMap(\.self).max(), last > 0 else { return }
        switch target.session.dialect {
        case .sqlite:
            // A table without AUTOINCREMENT has no row here. It continues from its greatest number.
            try target.session.execute(
                "UPDATE sqlite_sequence SET seq = ?1 WHERE name = ?2 AND seq < ?1", [last, table.name])
        case .postgres:
            _ = try target.session.number(
                "SELECT setval(CAST(pg_get_serial_sequence(?1, ?2) AS REGCLASS), ?3)", [table.name, column, last])
        }
    }

    /// Seals each enrollment's row anew for the target.
    private func sealEnrollments() throws {
        var last: EnrollmentID?
        while true {
            let transaction = target.transaction()
            let page = try transaction.enrollments(after: last, limit: Self.page)
            for enrollment in page {
                guard try transaction.change(enrollment.id, .rowResealed) != nil else {
                    throw StateMoveError("the row of enrollment \(enrollment.id) is not as the agent wrote it")
                }
            }
            guard page.count == Self.page else { return }
            last = page.last?.id
        }
    }
}

/// The error of a move that failed.
///
/// The target then has none of the rows.
package struct StateMoveError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
