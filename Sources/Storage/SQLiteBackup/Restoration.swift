package import DurableFiles
import FoundationEssentials
import GRDB
import Records
import SQLiteStore

/// Restores a backup into an empty state directory, completely or without leaving a usable state.
///
/// The caller has the lock of the directory. The copy is verified and synced under another name, and only then renamed.
/// An agent does not start on a directory without the renamed file.
package struct Restoration {
    private let backup: String
    private let directory: String

    package init(of backup: String, into directory: String) {
        self.backup = backup
        self.directory = directory
    }

    private var staging: String { "\(directory)/\(StateFiles.restore)" }
    private var database: String { "\(directory)/\(StateFiles.database)" }
    private var copy: String { "\(staging)/\(StateFiles.database)" }

    package func restore() throws(RestoreError) -> Manifest {
        try clearUnfinished()
        do throws(RestoreError) {
            try write { () throws(FileError) in try PrivateDirectory.make(at: staging) }
            try copyBytes()
            let manifest = try verify()
            try write { () throws(FileError) in
                try FileStream(reading: copy).synchronize()
                // The newest entry was not written here, so there is no head to compare. The first start accepts the
                // journal's end.
                let head = "\(staging)/\(StateFiles.head)"
                try DurableFile.write(HeadNote.accepted.bytes, to: head, replacing: true)
                try DurableFile.move(copy, to: database)
                try DurableFile.move(head, to: "\(directory)/\(StateFiles.head)")
            }
            StateFiles.remove(staging)
            return manifest
        } catch {
            // The directory had no state before. If the rename could not be made durable, the restore has failed.
            for path in [database, "\(directory)/\(StateFiles.head)", staging] { StateFiles.remove(path) }
            throw error
        }
    }

    /// Allows only files that an operator may put there first and the rest of an interrupted restore.
    private func clearUnfinished() throws(RestoreError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw .failed("\(directory) cannot be read: check its owner and mode")
        }
        let others = names.filter { !StateFiles.beforeRestore.contains($0) }.sorted()
        guard others.isEmpty else { throw .occupied(directory: directory, names: Array(others.prefix(5))) }
        StateFiles.remove(staging)
    }

    private func copyBytes() throws(RestoreError) {
        let source = try source()
        let target = try target()
        while true {
            let piece: [UInt8]
            do throws(FileError) { piece = try source.read(Self.pieceSize) } catch { throw .unreadable(error) }
            guard !piece.isEmpty else { break }
            try write { () throws(FileError) in try target.write(piece) }
        }
        try write { () throws(FileError) in try target.synchronize() }
    }

    private func source() throws(RestoreError) -> FileStream {
        do throws(FileError) { return try FileStream(reading: backup) } catch { throw .unreadable(error) }
    }

    private func target() throws(RestoreError) -> FileStream {
        do throws(FileError) { return try FileStream(creating: copy) } catch { throw .unwritable(error) }
    }

    private static let pieceSize = 65_536

    /// Verifies that the copy is a complete backup of this version's schema, and turns it into a state.
    private func verify() throws(RestoreError) -> Manifest {
        do {
            let queue = try DatabaseQueue(path: copy, configuration: SQLiteDatabase.wary)
            let manifest = try queue.writeWithoutTransaction { database in
                // Overrides the file's own settings: no other file may contain its rows.
                try database.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL")
                let manifest = try checked(database)
                // No seal covers this column, so a forged copy may lack the mark and still have a matching digest.
                try SQLiteDatabase.markAsCopy(database)
                try Manifest.remove(from: database)
                return manifest
            }
            try queue.close()
            return manifest
        } catch let error as RestoreError {
            throw error
        } catch let fault as Manifest.Fault {
            throw Self.error(fault, backup)
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_NOMEM:
                throw .failed("\(copy): \(error.message ?? "error \(error.resultCode.rawValue)")")
            // The copy is this process's own file, so a read-only error comes from the file's own header.
            case .SQLITE_READONLY: throw damaged("it says that it cannot be written to")
            case .SQLITE_NOTADB: throw damaged("it is no SQLite database")
            default: throw damaged("SQLite says: \((error.message ?? "").printable)")
            }
        } catch {
            throw damaged("\(error)".printable)
        }
    }

    private func checked(_ database: Database) throws -> Manifest {
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        guard try FileStream(reading: copy).size == Int64.fetchOne(database, sql: sql) else {
            throw damaged("it is cut off, or goes on after its end")
        }
        let manifest = try Manifest(of: database)
        let objects = try SchemaObjects(of: database).without(table: Manifest.table)
        let foreign = try objects.differences(from: .ofThisVersion())
        guard foreign.isEmpty else {
            throw RestoreError.otherSchema(path: backup, version: manifest.version, differences: foreign)
        }
        let integrity = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)")
        guard integrity == "ok" else { throw damaged((integrity ?? "it cannot be checked").printable) }
        guard try RowDigest.hexadecimal(of: database) == manifest.digest else {
            throw damaged("its rows are not those that its manifest has the SHA-256 of")
        }
        return manifest
    }

    private static func error(_ fault: Manifest.Fault, _ backup: String) -> RestoreError {
        switch fault {
        case .missing: .damaged(path: backup, fault: "it has no manifest, as oobctl backup writes one")
        case .unreadable: .damaged(path: backup, fault: "its manifest cannot be read")
        case .otherForm(let form): .newer(path: backup, fault: "its form is \(form)")
        }
    }

    private func damaged(_ fault: String) -> RestoreError { .damaged(path: backup, fault: fault) }

    private func write(_ body: () throws(FileError) -> Void) throws(RestoreError) {
        do throws(FileError) { try body() } catch { throw .unwritable(error) }
    }
}

/// The reason why a backup was not restored.
///
/// No usable state is left behind.
package enum RestoreError: Error, Equatable, CustomStringConvertible {
    /// The backup cannot be read.
    case unreadable(FileError)
    /// The file is not a backup, or it is incomplete.
    case damaged(path: String, fault: String)
    /// A newer version made the backup.
    case newer(path: String, fault: String)
    /// The schema of the database differs: another version made it, or somebody changed it.
    case otherSchema(path: String, version: String, differences: [String])
    /// The state directory is not empty.
    case occupied(directory: String, names: [String])
    /// The state directory is not writable.
    case unwritable(FileError)
    case failed(String)

    package var description: String {
        switch self {
        case .unreadable(let error): "the backup \(error)"
        case .damaged(let path, let fault): "\(path) is not a complete backup: \(fault); use another backup"
        case .newer(let path, let fault):
            "\(path) was made by a newer version of the agent: \(fault); restore it with that version"
        case .otherSchema(let path, let version, let differences):
            "\(path) has not the schema of this version: \(differences.joined(separator: ", ")); it says that oob-agent "
                + "\(version) made it: restore it with that version, or use another backup"
        case .occupied(let directory, let names):
            "the state directory \(directory) is not empty, \(names.joined(separator: ", ")) is in it: a backup is restored "
                + "into an empty one; move what is there away, or name another with --state-dir"
        case .unwritable(let error): "the backup could not be restored: \(error)"
        case .failed(let reason): "the backup could not be restored: \(reason)"
        }
    }
}
