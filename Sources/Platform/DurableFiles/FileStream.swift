import Glibc

/// An open file that is read or written in pieces, from its beginning to its end.
package struct FileStream: ~Copyable {
    private let file: Descriptor

    /// Opens a regular file for reading.
    package init(reading path: String) throws(FileError) {
        guard !path.utf8.contains(0) else { throw FileError(path: path, reason: .unusablePath) }
        // O_NONBLOCK: opening a FIFO must not wait for a writer. It has no effect on a regular file.
        let number = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let file = try Descriptor(takingOwnershipOf: number, path: path, operation: "open")
        guard try file.status().st_mode & S_IFMT == S_IFREG else {
            throw FileError(path: path, reason: .notRegularFile)
        }
        self.file = file
    }

    /// Creates a file with mode 0600, whose name must not exist yet.
    package init(creating path: String) throws(FileError) {
        guard !path.utf8.contains(0) else { throw FileError(path: path, reason: .unusablePath) }
        let number = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        file = try Descriptor(takingOwnershipOf: number, path: path, operation: "open")
    }

    /// The size in bytes.
    package var size: Int64 {
        get throws(FileError) { Int64(try file.status().st_size) }
    }

    /// Reads the next `limit` bytes, or fewer at the end of the file.
    package func read(_ limit: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(FileError) in
            try unsafe file.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        return Array(bytes.prefix(count))
    }

    package func write(_ bytes: [UInt8]) throws(FileError) {
        try unsafe bytes.withUnsafeBufferPointer { bytes throws(FileError) in
            try unsafe file.writeAll(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Waits until all written bytes are on the disk.
    package func synchronize() throws(FileError) { try file.synchronize() }
}
