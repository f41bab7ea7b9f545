import Authenticator
import GRDB
import TableRows

extension DatabaseTransaction {
    func firstRequest(since time: Int64, sparing most: Int) throws -> (place: Int64, isCut: Bool) {
        // They come in the order of time: the newest of those before is where the others begin.
        let older = try database.number(
            "SELECT seq FROM request WHERE received_at < ? ORDER BY seq DESC LIMIT 1", [time])
        let spared = try database.number("SELECT seq FROM request ORDER BY seq DESC LIMIT 1 OFFSET ?", [most])
        return (max(older ?? 0, spared ?? 0), (spared ?? 0) > (older ?? 0))
    }

    func requestTallies(
        after place: Int64, since time: Int64, limit: Int
    ) throws -> (tallies: [RequestTally], place: Int64?) {
        let last = try database.number(
            "SELECT MAX(seq) FROM (SELECT seq FROM request WHERE seq > ? ORDER BY seq LIMIT ?)", [place, limit])
        guard let last else { return ([], nil) }
        let statement = try database.cachedStatement(
            sql: """
                SELECT script.document, state, delivery, trans_status, decided_at - received_at, COUNT(*)
                FROM request LEFT JOIN script ON script.request_seq = request.seq
                WHERE request.seq > ? AND request.seq <= ? AND received_at >= ?
                GROUP BY 1, 2, 3, 4, 5
                """)
        let tallies = try Row.fetchAll(statement, arguments: [place, last, time]).map { row in
            RequestTally(
                script: row[0], state: row[1], delivery: row[2], transStatus: row[3], latency: row[4], count: row[5])
        }
        return (tallies, last)
    }
}
