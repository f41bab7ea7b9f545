import FoundationEssentials
import Glibc

/// A file or directory whose mode gives access to users other than its owner.
package struct OpenFile: Equatable, Sendable, CustomStringConvertible {
    package let path: String
    /// The permission bits.
    package let mode: UInt32

    /// A text such as "/var/lib/oob-agent (0755)".
    package var description: String {
        let digits = String(mode, radix: 8)
        return "\(path) (\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits))"
    }

    /// Returns the file or the target of a symbolic link, or `nil` if only its owner may use it.
    package static func at(_ path: String) throws(UnknownFactError) -> OpenFile? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .afterCall("stat \(path)") }
        let mode = status.st_mode & 0o7777
        return mode & 0o077 == 0 ? nil : OpenFile(path: path, mode: mode)
    }

    /// Returns a directory that others may look into, then the open files directly in it, by name.
    ///
    /// The result is empty if others may not look into the directory. Files that are removed meanwhile are skipped.
    package static func inDirectory(_ path: String) throws(UnknownFactError) -> [OpenFile] {
        guard let directory = try at(path) else { return [] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw UnknownFactError("the directory \(path) cannot be read")
        }
        return [directory] + names.sorted().compactMap { try? at("\(path)/\($0)") }
    }
}

/// The group of a file, and the permissions that the file's mode gives that group.
package struct FileGroup: Sendable {
    package let id: UInt32
    private let mode: mode_t

    /// Reads the status of a file, or returns `nil` if that fails.
    ///
    /// A symbolic link as the last part of the path is not followed.
    package init?(of path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        id = status.st_gid
        mode = status.st_mode
    }

    /// Returns whether members of a group may pass through a directory; its owner's rights do not count.
    package func letsThrough(_ group: UInt32) -> Bool { mode & (group == id ? 0o010 : 0o001) != 0 }
}
