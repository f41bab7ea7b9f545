package import Records
import TableRows

/// Brings all rows of one store into another one, which is empty, within a database transaction of each.
///
/// Nothing of the source is changed. What was written is read again, and held against what was read.
package struct StateMove {
    /// The most rows that are in memory.
    static let page = 200

    private let source: MovedStore
    private let target: MovedStore

    /// How many rows went over.
    package struct Tally: Sendable, Equatable {
        package internal(set) var rows: [String: Int] = [:]
    }

    /// - Parameters:
    ///   - sourceHost: whose chain of the journal goes over; nil if the source has one chain.
    ///   - targetHost: whose chain it becomes; nil if the target has one chain.
    ///   - seals: of both: the secret stays the same.
    ///   - dataKeys: who seals the data keys of both; each enrollment gets a new one.
    package init(
        from source: any StoreSession, of sourceHost: HostName?, to target: any StoreSession,
        of targetHost: HostName?, seals: any RowSeals, dataKeys: any DataKeySeals
    ) {
        self.source = MovedStore(source, of: sourceHost, Sealing(seals: seals, dataKeys: dataKeys))
        self.target = MovedStore(target, of: targetHost, Sealing(seals: seals, dataKeys: dataKeys))
    }

    /// - Parameter conclude: what is written in the target at the end.
    /// - Throws: ``StateMoveError``, what a database throws, or what `conclude` throws.
    package func run(concluding conclude: (StoreTransaction) throws -> Void = { _ in }) throws -> Tally {
        var tally = Tally()
        // Rows that are not as they were written are not sealed anew.
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
        // Before rows are written again: a table may take its own numbers for them.
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

    /// Goes on counting where the source does: a number that it gave is not given to another row.
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
            // One that does not count by itself has no row there, and takes the greatest number in the table.
            try target.session.run(
                "UPDATE sqlite_sequence SET seq = ?1 WHERE name = ?2 AND seq < ?1", [last, table.name])
        case .postgres:
            _ = try target.session.number(
                "SELECT setval(CAST(pg_get_serial_sequence(?1, ?2) AS REGCLASS), ?3)", [table.name, column, last])
        }
    }

    /// Seals each enrollment's row as the target's own.
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

/// Why a state could not be brought into another store; nothing of it is there.
package struct StateMoveError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
