package import GRDB

extension SQLiteDatabase {
    /// The size of the database and its write-ahead log, in bytes.
    package var size: Int64 { DatabaseFiles.size(path) }

    /// The table that only a backup has.
    ///
    /// A database with it was not restored.
    package static let backupTable = "manifest"

    /// Reads a file without changing it.
    static func reading<T>(_ path: String, _ body: (Database) throws -> T) throws -> T {
        try naming(path) {
            let database = try DatabaseQueue(path: path, configuration: readOnly)
            let found = try database.read(body)
            try database.close()
            return found
        }
    }

    /// A read-only configuration for an untrusted file.
    package static var readOnly: Configuration {
        var configuration = wary
        configuration.readonly = true
        return configuration
    }

    /// The limit for a value of a copy, in bytes.
    ///
    /// All values of the agent are shorter.
    private static let maxValue = 16 << 20

    /// A configuration for an untrusted file.
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
