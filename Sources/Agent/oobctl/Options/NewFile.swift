import Control
import Glibc
import LinuxProcess

/// A file that gets its name only after it is complete and on the disk.
///
/// Until then it has a temporary name beside it. Without `keep()` it is removed.
struct NewFile: ~Copyable {
    private let path: String
    private let temporary: String
    private let directory: String
    private let isReplacing: Bool
    private let descriptor: Int32

    /// - Parameter replacing: allows a regular file of that name. Other kinds of files are never replaced.
    init(_ path: String, replacing: Bool) throws(ClientError) {
        let names = path.split(separator: "/", omittingEmptySubsequences: false)
        let above = names.dropLast().joined(separator: "/")
        guard let name = names.last, !["", ".", ".."].contains(name), !path.utf8.contains(0) else {
            throw .unclear("\(path) is no path of a file.")
        }
        let directory = names.count == 1 ? "." : above.isEmpty ? "/" : above
        let temporary = "\(directory)/.\(name).\(String(UInt64.random(in: .min ... .max), radix: 16)).partial"
        try Self.expectWritable(path, replacing: replacing)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure("cannot be made", path, in: directory) }
        self.path = path
        self.temporary = temporary
        self.directory = directory
        isReplacing = replacing
        descriptor = file
    }

    deinit {
        close(descriptor)
        // After `keep()` this name does not exist, or is a second link.
        unsafe unlink(temporary)
    }

    func write(_ bytes: [UInt8]) throws(ClientError) {
        guard ProgramOutput.write(bytes, to: descriptor) else { throw Self.failure("cannot be written", path) }
    }

    /// Returns when the file has its name, and both are on the disk.
    func keep() throws(ClientError) {
        guard fsync(descriptor) == 0 else { throw Self.failure("cannot be written", path) }
        // link(2) never replaces a file that was made meanwhile. rename(2) does.
        let isNamed = unsafe isReplacing ? rename(temporary, path) : link(temporary, path)
        guard isNamed == 0 else { throw Self.failure("cannot be made", path) }
        let list = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(list) }
        guard fsync(list) == 0 else { throw Self.failure("may not outlast a loss of power", path) }
    }

    private static func expectWritable(_ path: String, replacing: Bool) throws(ClientError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unclear("\(path) is there, and is no file.") }
        guard replacing else { throw .unclear("\(path) is there already: --force replaces it.") }
    }

    private static func failure(_ what: String, _ path: String, in directory: String? = nil) -> ClientError {
        let number = errno
        if let directory, number == ENOENT {
            var status = stat()
            // /proc exists, but files cannot be made in it.
            let isThere = unsafe stat(directory, &status) == 0
            return .unclear(
                "\(path) \(what): "
                    + (isThere
                        ? "the directory \(directory) takes no files."
                        : "there is no directory \(directory); make it first."))
        }
        // glibc keeps the text per thread (strerror(3)), and it is copied at once.
        return .unclear("\(path) \(what): \(unsafe String(cString: strerror(number))).")
    }
}
