package import Authenticator
import Keys
import TableRows

/// Brings all rows of one store into another one, which is empty, within a database transaction of each.
///
/// Nothing of the source is changed. What was written is read again, and held against what was read.
package struct StateMove {
    /// The most rows that are in memory.
    static let page = 200

    private let source: any StoreSession
    private let sourceHost: HostName?
    private let target: any StoreSession
    private let targetHost: HostName?
    private let seals: any RowSeals

    /// How many rows went over.
    package struct Tally: Sendable, Equatable {
        package internal(set) var rows: [String: Int] = [:]
    }

    /// - Parameters:
    ///   - sourceHost: whose chain of the journal goes over; nil if the source has one chain.
    ///   - targetHost: whose chain it becomes; nil if the target has one chain.
    ///   - seals: of both: the secret stays the same.
    package init(
        from source: any StoreSession, of sourceHost: HostName?, to target: any StoreSession,
        of targetHost: HostName?, seals: any RowSeals
    ) {
        self.source = source
        self.sourceHost = sourceHost
        self.target = target
        self.targetHost = targetHost
        self.seals = seals
    }

    /// - Parameter sealedKey: what the target is to keep of an enrollment's own key; nil: nothing.
    /// - Throws: ``StateMoveError``, what a database throws, or what `sealedKey` throws.
    package func run(sealedKey: (Enrollment) throws -> [UInt8]?) throws -> Tally {
        var tally = Tally()
        for table in MovedTable.all {
            let columns = try table.columns(in: source)
            guard !columns.isEmpty, try table.columns(in: target) == columns else {
                throw StateMoveError("table \(table.name) has other columns in the two databases")
            }
            tally.rows[table.name] = try copy(table, columns)
        }
        // Before rows are written again: a table may take its own numbers for them.
        for table in MovedTable.all { try copyCounter(of: table) }
        try writeEnrollments(sealedKey)
        for table in MovedTable.all {
            let columns = try table.columns(in: source).filter { !table.written.contains($0) }
            let (read, written) = (
                try digest(of: table, columns, in: source, of: sourceHost),
                try digest(of: table, columns, in: target, of: targetHost)
            )
            guard read.count == written.count, read.digest == written.digest else {
                throw StateMoveError(
                    "table \(table.name) is not what was copied: \(read.count) rows became \(written.count)")
            }
        }
        return tally
    }

    private func copy(_ table: MovedTable, _ columns: [String]) throws -> Int {
        let insertion = table.insertion(of: columns, host: targetHost, dialect: target.dialect)
        var count = 0
        try forEachPage(of: table, columns, in: source, of: sourceHost) { rows in
            for row in rows.dropLast() { try target.run(insertion, StatementValues(row)) }
            // The last one is waited for, so that no more is on its way than a page.
            if let last = rows.last { _ = try target.changes(insertion, StatementValues(last)) }
            count += rows.count
        }
        return count
    }

    private func digest(
        of table: MovedTable, _ columns: [String], in session: any StoreSession, of host: HostName?
    ) throws -> (count: Int, digest: [UInt8]) {
        let digest = try RunningSHA256()
        var count = 0
        try forEachPage(of: table, columns, in: session, of: host) { rows in
            for row in rows {
                for value in row { try digest.update(value.unmistakableBytes) }
            }
            count += rows.count
        }
        return (count, try digest.digest())
    }

    private func forEachPage(
        of table: MovedTable, _ columns: [String], in session: any StoreSession, of host: HostName?,
        _ body: ([[ColumnValue]]) throws -> Void
    ) throws {
        // Keys are among the columns, but for what is only compared.
        let all = columns + table.key.filter { !columns.contains($0) }
        let places = table.key.compactMap { all.firstIndex(of: $0) }
        var last: [ColumnValue]?
        while true {
            let sql = table.page(of: all, host: host, isFirst: last == nil, limit: Self.page)
            let rows = try session.rows(sql, StatementValues(last ?? [])) { row in
                try all.indices.map { index in
                    guard let value = row[index] else {
                        throw StateMoveError("a value of \(table.name).\(all[index]) is of no known type")
                    }
                    return value
                }
            }
            try body(rows.map { Array($0.prefix(columns.count)) })
            guard rows.count == Self.page, let end = rows.last else { return }
            last = places.map { end[$0] }
        }
    }

    /// A number that was given once is never given again, also if its row is gone.
    private func copyCounter(of table: MovedTable) throws {
        guard let column = table.counter else { return }
        let greatest = "SELECT MAX(\(column)) FROM \(table.name)"
        let given =
            switch source.dialect {
            case .sqlite: try source.number("SELECT seq FROM sqlite_sequence WHERE name = ?", [table.name])
            case .postgres:
                try source.number(
                    "SELECT pg_sequence_last_value(CAST(pg_get_serial_sequence(?1, ?2) AS REGCLASS))",
                    [table.name, column])
            }
        guard let last = [given, try source.number(greatest)].compactMap(\.self).max(), last > 0 else { return }
        switch target.dialect {
        case .sqlite:
            // One that does not count by itself has no row there, and takes the greatest number in the table.
            try target.run("UPDATE sqlite_sequence SET seq = ?1 WHERE name = ?2 AND seq < ?1", [last, table.name])
        case .postgres:
            _ = try target.number(
                "SELECT setval(CAST(pg_get_serial_sequence(?1, ?2) AS REGCLASS), ?3)", [table.name, column, last])
        }
    }

    /// Seals each enrollment's row as the target's own, with its key if the store is to keep it.
    private func writeEnrollments(_ sealedKey: (Enrollment) throws -> [UInt8]?) throws {
        var last: EnrollmentID?
        while true {
            let transaction = DatabaseTransaction(
                database: target, sealing: Sealing(seals: seals), written: Written(), host: targetHost)
            let page = try transaction.enrollments(after: last, limit: Self.page)
            for enrollment in page {
                let key = enrollment.key == .own ? try sealedKey(enrollment) : nil
                guard try transaction.change(enrollment.id, .keyMoved(key)) != nil else {
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

extension ColumnValue {
    /// Its type, its length and its content, so that no two rows give the same bytes.
    fileprivate var unmistakableBytes: [UInt8] {
        let (type, content): (UInt8, [UInt8]) =
            switch self {
            case .null: (0, [])
            case .number(let number): (1, Self.bytes(UInt64(bitPattern: number)))
            case .text(let text): (2, Array(text.utf8))
            case .bytes(let bytes): (3, bytes)
            }
        return [type] + Self.bytes(UInt64(content.count)) + content
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}
