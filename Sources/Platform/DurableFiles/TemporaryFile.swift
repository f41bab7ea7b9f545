import Glibc

/// A temporary file with a random name in the target's directory.
///
/// It is removed unless it was renamed. After a crash, ``DurableFile/removeLeftovers(in:)`` removes it.
struct TemporaryFile: ~Copyable {
    static let prefix = ".tmp-"

    private let file: Descriptor
    private let directory: CInt
    private let name: String
    private var isRenamed = false

    /// Creates the file in `directory`, which must stay open for as long as this value exists.
    init(for location: FileLocation, in directory: borrowing Descriptor) throws(FileError) {
        let name = Self.prefix + String(UInt64.random(in: .min ... .max), radix: 16)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let number = unsafe openat(directory.number, name, flags, 0o600)
        file = try Descriptor(takingOwnershipOf: number, path: location.path, operation: "open")
        (self.directory, self.name) = (directory.number, name)
    }

    deinit {
        if !isRenamed { _ = unsafe unlinkat(directory, name, 0) }
    }

    /// Writes the content and waits until it is on the disk.
    func fill(_ bytes: UnsafeRawBufferPointer, mode: mode_t) throws(FileError) {
        try unsafe file.writeAll(bytes)
        try file.setMode(mode)
        try file.synchronize()
    }

    /// Gives the file its final name.
    ///
    /// A reader that opens that name gets the old file or the complete new one. The caller must synchronize the
    /// directory afterwards.
    mutating func rename(
        _ location: FileLocation, in directory: borrowing Descriptor, replacing: Bool
    ) throws(FileError) {
        if replacing {
            guard unsafe renameat(directory.number, name, directory.number, location.name) == 0 else {
                throw .afterCall("rename", path: location.path)
            }
            isRenamed = true
        } else {
            // Link instead of rename: rename(2) would overwrite an existing file, and Glibc's module lacks renameat2.
            // `deinit` removes the temporary name.
            guard unsafe linkat(directory.number, name, directory.number, location.name, 0) == 0 else {
                throw .afterCall("link", path: location.path)
            }
        }
    }
}
