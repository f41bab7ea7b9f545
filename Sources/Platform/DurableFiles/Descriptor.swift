import Glibc

/// An owned file descriptor, with the path for error messages.
struct Descriptor: ~Copyable {
    let number: CInt
    let path: String

    /// Takes ownership of `number`, or throws the error in errno if `number` is negative.
    init(takingOwnershipOf number: CInt, path: String, operation: String) throws(FileError) {
        guard number >= 0 else { throw .afterCall(operation, path: path) }
        (self.number, self.path) = (number, path)
    }

    deinit { _ = close(number) }

    func status() throws(FileError) -> stat {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw .afterCall("fstat", path: path) }
        return status
    }

    /// Waits until the content and its metadata are on the disk.
    func synchronize() throws(FileError) {
        guard fsync(number) == 0 else { throw .afterCall("fsync", path: path) }
    }

    func setMode(_ mode: mode_t) throws(FileError) {
        guard fchmod(number, mode) == 0 else { throw .afterCall("fchmod", path: path) }
    }

    func writeAll(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = unsafe Glibc.write(number, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .afterCall("write", path: path) }
            written += count
        }
    }

    /// Reads to the end of the file and returns the number of bytes.
    ///
    /// Throws if the file does not end before `buffer` is full.
    func readAll(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        let count = try unsafe read(into: buffer)
        guard count < buffer.count else { throw FileError(path: path, reason: .tooLarge(maxBytes: buffer.count - 1)) }
        return count
    }

    /// Reads until `buffer` is full or the file ends, and returns the number of bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = unsafe Glibc.read(number, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .afterCall("read", path: path) }
            if count == 0 { return filled }
            filled += count
        }
        return filled
    }
}

extension FileError {
    /// Makes the error from errno, so it must directly follow the failed call.
    static func afterCall(_ operation: String, path: String) -> FileError {
        let number = errno
        return switch number {
        case EEXIST: FileError(path: path, reason: .exists)
        case ENOENT: FileError(path: path, reason: .missing)
        case ELOOP: FileError(path: path, reason: .notRegularFile)
        default: FileError(path: path, reason: .system(operation: operation, errno: number))
        }
    }
}
