import GRDB
package import StoreTables
import TableRows

extension Database: StoreSession {
    package func undoing(_ part: () throws -> Void) throws -> (any Error)? {
        var failure: (any Error)?
        try inSavepoint {
            do {
                try part()
                return .commit
            } catch  where !(error is DatabaseError || error is UnreadableRowError) {
                failure = error
                return .rollback
            }
        }
        return failure
    }

    package func touch() throws { try execute(sql: "PRAGMA user_version = 0") }

    package func lock(_ held: HeldRow) throws {}
}
