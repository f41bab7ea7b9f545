package import Records
import TableRows

/// The columns of a count of similar requests.
enum TallyColumn: Int, TableColumn {
    static let table = TableLayout<Self>("request", naming: .snakeCase)

    case script, state, delivery, transStatus, latency, count
}

extension StoreReading {
    /// The place before the first request received at or after `time`, or before the newest `most` if there are more.
    ///
    /// Times are seconds since 1970.
    package func firstRequest(since time: Int64, sparing most: Int) throws -> (place: Int64, isCut: Bool) {
        // Requests are in the order of their time, so the newest older one marks the start.
        let older = try database.number(
            "SELECT seq FROM request WHERE received_at < ? ORDER BY seq DESC LIMIT 1", [time])
        let spared = try database.number("SELECT seq FROM request ORDER BY seq DESC LIMIT 1 OFFSET ?", [most])
        return (max(older ?? 0, spared ?? 0), (spared ?? 0) > (older ?? 0))
    }

    /// Counts the requests received at or after `time`, among the next `limit` after a place.
    ///
    /// - Returns: the place of the last request. `nil` if there are no more.
    package func requestTallies(
        after place: Int64, since time: Int64, limit: Int
    ) throws -> (tallies: [RequestTally], place: Int64?) {
        let last = try database.number(
            "SELECT MAX(seq) FROM (SELECT seq FROM request WHERE seq > ? ORDER BY seq LIMIT ?) AS next", [place, limit])
        guard let last else { return ([], nil) }
        let sql = """
            SELECT script.document AS script, state, delivery, trans_status, decided_at - received_at AS latency,
                COUNT(*) AS count
            FROM request LEFT JOIN script ON script.request_seq = request.seq
            WHERE request.seq > ? AND request.seq <= ? AND received_at >= ?
            GROUP BY 1, 2, 3, 4, 5
            """
        let tallies = try database.rows(of: TallyColumn.table, sql: sql, [place, last, time]) { fields in
            RequestTally(
                script: try fields.optionalText(.script), state: try fields.text(.state),
                delivery: try fields.text(.delivery), transStatus: try fields.optionalText(.transStatus),
                latency: try fields.optionalNumber(.latency), count: try fields.number(.count))
        }
        return (tallies, last)
    }
}
