package import Authenticator
import GRDB
import SQLiteRows
import StoreTables
import TableRows

extension SQLiteDatabase {
    /// The form of the tables of this version, as a backup's manifest names it.
    package static let knownSchema = ["form \(StoreSchema.form)"]

    /// The same of the database in a file; empty if it is not a store.
    ///
    /// Opened for reading alone: the file stays as it is.
    package static func schema(of path: String) throws -> [String] {
        try reading(path) { try StoreSchema.isMade(in: $0) ? knownSchema : [] }
    }

    /// Looks into a file, which stays as it is.
    static func reading<T>(_ path: String, _ body: (Database) throws -> T) throws -> T {
        try naming(path) {
            let database = try DatabaseQueue(path: path, configuration: readOnly)
            let found = try database.read(body)
            try database.close()
            return found
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
        StoreCopy(schema: knownSchema)
    }
}
