package import GRDB

extension SQLiteDatabase {
    /// The bytes of the database and its log.
    package var size: Int64 { DatabaseFiles.size(path) }

    /// The name of the table that a backup has and the agent's own database never: with it, a database was not restored.
    package static let backupTable = "manifest"

    /// Looks into a file, which stays as it is.
    static func reading<T>(_ path: String, _ body: (Database) throws -> T) throws -> T {
        try naming(path) {
            let database = try DatabaseQueue(path: path, configuration: readOnly)
            let found = try database.read(body)
            try database.close()
            return found
        }
    }

    /// For a connection to a file that anybody may have written, which reads alone.
    package static var readOnly: Configuration {
        var configuration = wary
        configuration.readonly = true
        return configuration
    }

    /// The most bytes of a value of a copy: no value of the agent's is as long.
    private static let maxValue = 16 << 20

    /// For a connection to a file that anybody may have written.
    package static var wary: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.label = "copy"
        configuration.prepareDatabase { database in
            try database.distrustFile()
            database.limitValues(to: maxValue)
        }
        return configuration
    }
}
