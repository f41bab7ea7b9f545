import GRDB

@testable import Authenticator

extension SampleAgent {
    /// Changes the database as any other program can that may write its file.
    func tamper(_ sql: String, _ arguments: StatementArguments = []) throws {
        try DatabaseQueue(path: "\(directory.path)/store.sqlite").write { database in
            try database.execute(sql: sql, arguments: arguments)
        }
    }

    /// Makes a whole copy of the database, as it is.
    func copyStore(to path: String) throws {
        try DatabaseQueue(path: "\(directory.path)/store.sqlite").vacuum(into: path)
    }
}
