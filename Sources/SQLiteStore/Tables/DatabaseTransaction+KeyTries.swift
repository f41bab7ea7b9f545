import Authenticator
import GRDB

extension DatabaseTransaction {
    func pinTries(of key: KeyIdentity) throws -> PINTries {
        let statement = try database.cachedStatement(sql: "SELECT * FROM key_tries WHERE identity = ?")
        guard let row = try Row.fetchOne(statement, arguments: [key.bytes.blob]) else { return .fresh }
        let fields = Fields(table: "key_tries", row: row)
        return PINTries(
            failures: Int(try fields.count("failures")), blockedUntil: try fields.optionalTime("blocked_until"))
    }

    /// A key without a row has had no wrong one.
    func setPINTries(of key: KeyIdentity, from old: PINTries, to new: PINTries) throws -> Bool {
        guard try pinTries(of: key) == old else { return false }
        if new == .fresh {
            try database.cachedStatement(sql: "DELETE FROM key_tries WHERE identity = ?")
                .execute(arguments: [key.bytes.blob])
        } else {
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO key_tries (identity, failures, blocked_until) VALUES (?, ?, ?)"
            ).execute(arguments: [key.bytes.blob, new.failures, new.blockedUntil])
        }
        return true
    }
}
