package import DurableFiles
import FoundationEssentials

/// Unpacks a backup into an empty state directory: all of it, or nothing that looks like a state.
///
/// The caller holds the lock of the directory. Everything is unpacked, checked and on the disk beside its place before
/// the first name appears; the database takes its name last, and without it no agent starts on what is there.
package struct Restoration {
    private let backup: String
    private let directory: String
    /// The migrations that this version knows.
    private let knownSchema: Set<String>
    private let schema: (String) throws -> [String]

    /// - Parameter schema: reads the migrations that the database in a file has been through, and changes nothing in it;
    ///   throws if it is no database.
    package init(
        of backup: String, into directory: String, knownSchema: [String],
        schema: @escaping (_ path: String) throws -> [String]
    ) {
        self.backup = backup
        self.directory = directory
        self.knownSchema = Set(knownSchema)
        self.schema = schema
    }

    private var unpacked: String { "\(directory)/\(StateFiles.restore)" }

    package func run() throws(RestoreError) -> Manifest {
        try clearUnfinished()
        do throws(RestoreError) {
            try write { () throws(FileError) in try PrivateDirectory.make(at: unpacked) }
            let manifest = try unpack()
            try check(manifest)
            try write { () throws(FileError) in
                try DurableFile.move("\(unpacked)/\(StateFiles.database)", to: "\(directory)/\(StateFiles.database)")
            }
            StateFiles.remove(unpacked)
            return manifest
        } catch {
            StateFiles.remove(unpacked)
            throw error
        }
    }

    /// Only what an operator may put there first is allowed, and what an earlier restore that was cut off left.
    private func clearUnfinished() throws(RestoreError) {
        if exists(StateFiles.restore), !exists(StateFiles.database) {
            StateFiles.remove(unpacked)
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw .failed("\(directory) cannot be read: check its owner and mode")
        }
        let others = names.filter { !StateFiles.beforeRestore.contains($0) }.sorted()
        guard others.isEmpty else { throw .occupied(directory: directory, names: Array(others.prefix(5))) }
    }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(directory)/\(name)") }

    private func unpack() throws(RestoreError) -> Manifest {
        var reader = try BackupReader(backup)
        var isUnpacked = false
        while true {
            let (header, block) = try reader.header()
            if header.name == Manifest.name {
                let manifest = try reader.end(header)
                guard isUnpacked else { throw reader.damaged("it has no \(StateFiles.database)") }
                return manifest
            }
            guard header.kind == .file, header.name == StateFiles.database, !isUnpacked else {
                throw reader.damaged("\(header.name.debugDescription) is no file of a backup")
            }
            try unpackEntry(header, block: block, from: &reader)
            isUnpacked = true
        }
    }

    private func unpackEntry(
        _ header: TarHeader, block: [UInt8], from reader: inout BackupReader
    ) throws(RestoreError) {
        let file = try opened("\(unpacked)/\(header.name)")
        try reader.accept(header, block: block) { piece throws(RestoreError) in
            try write { () throws(FileError) in try file.write(piece) }
        }
        try write { () throws(FileError) in try file.synchronize() }
    }

    private func opened(_ path: String) throws(RestoreError) -> FileStream {
        do throws(FileError) { return try FileStream(creating: path) } catch { throw .unwritable(error) }
    }

    private func check(_ manifest: Manifest) throws(RestoreError) {
        let unknown = manifest.schema.filter { !knownSchema.contains($0) }
        guard unknown.isEmpty else {
            throw .newer(path: backup, fault: "its database knows \(unknown.joined(separator: ", "))")
        }
        // Where it lies now no file that SQLite makes beside it outlasts the restore.
        let found = try? schema("\(unpacked)/\(StateFiles.database)")
        guard let found, !found.isEmpty, Set(found) == Set(manifest.schema) else {
            throw .damaged(
                path: backup, fault: "its \(StateFiles.database) does not have the schema that its manifest names"
            )
        }
    }

    private func write(_ body: () throws(FileError) -> Void) throws(RestoreError) {
        do throws(FileError) { try body() } catch { throw .unwritable(error) }
    }
}

/// Why a backup was not restored; then nothing that looks like a state was left behind.
package enum RestoreError: Error, Equatable, CustomStringConvertible {
    /// The backup cannot be read.
    case unreadable(FileError)
    /// It is no backup, or not a whole one.
    case damaged(path: String, fault: String)
    /// A newer version made it.
    case newer(path: String, fault: String)
    /// Something is in the state directory.
    case occupied(directory: String, names: [String])
    /// The state directory cannot be written to.
    case unwritable(FileError)
    case failed(String)

    package var description: String {
        switch self {
        case .unreadable(let error): "the backup \(error)"
        case .damaged(let path, let fault): "\(path) is not a complete backup: \(fault); use another backup"
        case .newer(let path, let fault):
            "\(path) was made by a newer version of the agent: \(fault); restore it with that version"
        case .occupied(let directory, let names):
            "the state directory \(directory) is not empty, \(names.joined(separator: ", ")) is in it: a backup is restored "
                + "into an empty one; move what is there away, or name another with --state-dir"
        case .unwritable(let error): "the backup could not be restored: \(error)"
        case .failed(let reason): "the backup could not be restored: \(reason)"
        }
    }
}
