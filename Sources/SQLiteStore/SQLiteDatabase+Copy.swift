package import Authenticator
import GRDB
import SQLiteRows
import StoreTables

extension SQLiteDatabase {
    /// The names of the migrations that this version knows, in their order.
    package static var knownSchema: [String] { Schema.migrator.migrations }

    /// The names of the migrations that the database in a file has been through.
    ///
    /// Also those that this version does not know; none if the file is not a store.
    ///
    /// Opened for reading alone: the file stays as it is.
    package static func schema(of path: String) throws -> [String] {
        try naming(path) {
            let database = try DatabaseQueue(path: path, configuration: readOnly)
            let applied = try database.read { try Schema.migrator.appliedIdentifiers($0) }
            try database.close()
            return applied.sorted()
        }
    }

    private static var readOnly: Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.label = "copy"
        return configuration
    }

    /// By a connection of its own, in one long read: the writer goes on, and its log grows until the copy is there.
    ///
    /// `VACUUM INTO` writes rows and nothing else: what was removed from the file, and lies in its free space, is not
    /// in the copy.
    package func copy(to path: String) async throws -> StoreCopy {
        try await Self.naming(self.path) {
            let source = try DatabaseQueue(path: self.path, configuration: Self.readOnly)
            try await source.vacuum(into: path)
            try source.close()
        }
        try await Self.naming(path) {
            let copy = try DatabaseQueue(path: path)
            try await copy.write(Self.markAsCopy)
            try copy.close()
        }
        return try await Self.naming(path) {
            let copy = try DatabaseQueue(path: path, configuration: Self.readOnly)
            let contents = try await copy.read(Self.contents)
            try copy.close()
            return contents
        }
    }

    /// Marks every signCount of a copy as uncertain.
    ///
    /// Nobody knows which signCounts were used since, so none is used before the issuer has said which one it accepted.
    private static func markAsCopy(_ copy: Database) throws {
        try copy.execute(
            sql: "UPDATE enrollment SET refused_sign_count = sign_count WHERE state IN ('active', 'suspended')")
    }

    private static func contents(of copy: Database) throws -> StoreCopy {
        StoreCopy(schema: try Schema.migrator.appliedMigrations(copy), keyed: try copy.keyedEnrollments())
    }
}
