import GRDB
import TextAndTime

/// The lead of a test clock over the system's, stored in the database so that it survives a restart.
enum ClockOffset {
    /// Reads the lead in seconds; 0 if the clock was never moved.
    static func stored(_ db: Database) throws -> Int64 {
        let text = try String.fetchOne(db, sql: "SELECT value FROM fact WHERE name = 'clockOffset'")
        guard let text else { return 0 }
        guard let seconds = Int64(text), (0...ClockAdvance.maxOffset).contains(seconds) else {
            throw SandboxStore.OpeningError(description: "its clockOffset must be 0 to \(ClockAdvance.maxOffset)")
        }
        return seconds
    }

    static func store(_ seconds: Int64, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO fact VALUES ('clockOffset', ?1) ON CONFLICT DO UPDATE SET value = ?1",
            arguments: [String(seconds)])
    }
}
