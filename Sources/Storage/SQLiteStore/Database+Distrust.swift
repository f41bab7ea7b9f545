import CSQLite
package import GRDB

extension Database {
    /// Makes the connection wary of its file: of functions that its schema calls, of damaged pages, and of SQL that
    /// would change the schema's own table.
    ///
    /// For `prepareDatabase` of each connection: before it, nothing has read the schema.
    package func distrustFile() throws {
        let code = unsafe shim_set_defensive(sqliteConnection)
        guard code == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "SQLITE_DBCONFIG_DEFENSIVE is not set")
        }
        // A damaged page is found when it is read, not when it has done more damage.
        try execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    }

    /// Has a longer value be an error, before its bytes are in memory.
    func limitValues(to bytes: Int) { unsafe shim_limit_length(sqliteConnection, Int32(clamping: bytes)) }
}
