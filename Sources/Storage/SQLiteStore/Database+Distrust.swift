import CSQLite
package import GRDB

extension Database {
    /// Hardens the connection against a malicious or damaged file.
    ///
    /// Guards against functions that the schema calls, against damaged pages, and against SQL that changes
    /// `sqlite_schema`.
    ///
    /// Call it in `prepareDatabase` of each connection, before the schema is read.
    package func distrustFile() throws {
        let code = unsafe shim_set_defensive(sqliteConnection)
        guard code == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "SQLITE_DBCONFIG_DEFENSIVE is not set")
        }
        // Detects a damaged page when it is read, before it causes more damage.
        try execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    }

    /// Makes a longer value an error, before its bytes are loaded.
    func limitValues(to bytes: Int) { unsafe shim_limit_length(sqliteConnection, Int32(clamping: bytes)) }
}
