import Control
import Glibc

/// A directory that gets its name only after all its files are complete and on the disk.
///
/// Until then it has a temporary name beside it. Without `keep()` it is removed.
struct NewDirectory: ~Copyable {
    let path: String
    private let temporary: String
    private let above: String
    private var names: [String]
    private var isKept: Bool

    /// - Parameter path: must not exist, or must be an empty directory.
    init(_ path: String) throws(ClientError) {
        let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
        let parts = trimmed.split(separator: "/", omittingEmptySubsequences: false)
        let parent = parts.dropLast().joined(separator: "/")
        guard let name = parts.last, !["", ".", ".."].contains(name), !path.utf8.contains(0) else {
            throw .unclear("\(path) is no path of a directory that can be made.")
        }
        let above = parts.count == 1 ? "." : parent.isEmpty ? "/" : parent
        let temporary = "\(above)/.\(name).\(String(UInt64.random(in: .min ... .max), radix: 16)).partial"
        guard unsafe mkdir(temporary, 0o700) == 0 else { throw Self.failure("cannot be made", trimmed) }
        self.path = trimmed
        self.temporary = temporary
        self.above = above
        names = []
        isKept = false
    }

    deinit {
        guard !isKept else { return }
        for name in names { unsafe unlink("\(temporary)/\(name)") }
        unsafe rmdir(temporary)
    }

    mutating func write(_ bytes: [UInt8], as name: String) throws(ClientError) {
        let file = try NewFile("\(temporary)/\(name)", replacing: false)
        names.append(name)
        try file.write(bytes)
        try file.keep()
    }

    /// Returns when the directory has its name, and the name is on the disk.
    mutating func keep() throws(ClientError) {
        // rename(2) replaces an empty directory, and no other existing file.
        guard unsafe rename(temporary, path) == 0 else {
            let isThere = [ENOTEMPTY, EEXIST, ENOTDIR].contains(errno)
            throw isThere
                ? .unclear("\(path) is there, and is no empty directory.") : Self.failure("cannot be made", path)
        }
        isKept = true
        let list = unsafe open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(list) }
        guard fsync(list) == 0 else { throw Self.failure("may not outlast a loss of power", path) }
    }

    private static func failure(_ what: String, _ path: String) -> ClientError {
        let number = errno
        // glibc keeps the text per thread (strerror(3)), and it is copied at once.
        return .unclear("\(path) \(what): \(unsafe String(cString: strerror(number))).")
    }
}
