import DurableFiles
package import Records
import Threads

/// The file in the state directory in which a host records its journal head.
package struct HeadFile: HeadKeeper {
    package let path: String

    package init(_ path: String) { self.path = path }

    package func read() async throws -> KeptHead {
        do throws(FileError) {
            let note = HeadNote(try DurableFile.read(path, maxBytes: HeadNote.maxBytes))
            return note.map { .note($0) } ?? .unreadable("\(path) is not as an agent writes it")
        } catch {
            if error.reason == .missing { return .nothing }
            guard error.systemError == nil else { throw error }
            return .unreadable("\(error)")
        }
    }

    /// Writes on a thread of its own: a disk may be slow.
    package func write(_ note: HeadNote) async throws {
        try await OwnThread.perform { try DurableFile.write(note.bytes, to: path, replacing: true) }
    }
}
