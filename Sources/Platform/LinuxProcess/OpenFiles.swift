import FoundationEssentials
import Glibc

/// A file or directory whose mode lets others in than its owner.
package struct OpenFile: Equatable, Sendable, CustomStringConvertible {
    package let path: String
    /// The permission bits.
    package let mode: UInt32

    /// "/var/lib/oob-agent (0755)".
    package var description: String {
        let digits = String(mode, radix: 8)
        return "\(path) (\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits))"
    }

    /// The file itself, or what a symbolic link leads to; nil if only its owner may use it.
    package static func at(_ path: String) throws(UnknownFactError) -> OpenFile? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .afterCall("stat \(path)") }
        let mode = status.st_mode & 0o7777
        return mode & 0o077 == 0 ? nil : OpenFile(path: path, mode: mode)
    }

    /// A directory that others may look into, first, and what is open right in it, by name; empty if they may not.
    ///
    /// Files that go meanwhile are passed over.
    package static func inDirectory(_ path: String) throws(UnknownFactError) -> [OpenFile] {
        guard let directory = try at(path) else { return [] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw UnknownFactError("the directory \(path) cannot be read")
        }
        return [directory] + names.sorted().compactMap { try? at("\(path)/\($0)") }
    }
}

/// Whose group a file is of, and what its mode lets that group do.
package struct FileGroup: Sendable {
    package let id: UInt32
    private let mode: mode_t

    /// Nil if nothing can be seen at the path; a symbolic link in its last place is not followed.
    package init?(of path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        id = status.st_gid
        mode = status.st_mode
    }

    /// Whether a directory lets members of a group through; its owner's rights do not count.
    package func letsThrough(_ group: UInt32) -> Bool { mode & (group == id ? 0o010 : 0o001) != 0 }
}
