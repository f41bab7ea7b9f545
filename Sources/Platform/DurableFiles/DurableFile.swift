import Glibc

/// Files that are written completely or not at all, even if the host crashes or loses power.
package enum DurableFile {
    /// Writes a file atomically: a temporary file in the same directory is synced, then gets the name.
    ///
    /// If `replacing` is false, an existing file does not change and `.exists` is thrown. If any step fails, the
    /// temporary file is removed and the name keeps its earlier content. When the call returns, the file and its name
    /// are on the disk.
    package static func write(
        _ bytes: [UInt8], to path: String, mode: UInt32 = 0o600, replacing: Bool
    ) throws(FileError) {
        try unsafe bytes.withUnsafeBufferPointer { bytes throws(FileError) in
            try unsafe write(UnsafeRawBufferPointer(bytes), to: path, mode: mode, replacing: replacing)
        }
    }

    /// Reads a whole file of at most `maxBytes`.
    ///
    /// The owner and mode are checked on the opened file. The file at the path could change between a check and the
    /// open.
    package static func read(
        _ path: String, maxBytes: Int, privacy: FilePrivacy = .ownerOnly
    ) throws(FileError) -> [UInt8] {
        let file = try open(path, maxBytes: maxBytes, privacy: privacy)
        // The buffer has the file's length. The file may have grown since that check, so the length is bounded again.
        var bytes = [UInt8](repeating: 0, count: min(Int(try file.status().st_size), maxBytes) + 1)
        let count = try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(FileError) in
            try unsafe file.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        guard count < bytes.count else { throw FileError(path: path, reason: .tooLarge(maxBytes: maxBytes)) }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Reads a whole file, which must be shorter than `buffer`, and returns the number of bytes.
    package static func read(
        _ path: String, into buffer: UnsafeMutableRawBufferPointer, privacy: FilePrivacy
    ) throws(FileError) -> Int {
        let file = try open(path, maxBytes: buffer.count - 1, privacy: privacy)
        return try unsafe file.readAll(into: buffer)
    }

    /// Removes a file, and returns when its name is gone from the disk.
    ///
    /// A missing file is not an error.
    package static func remove(_ path: String) throws(FileError) {
        let location = try FileLocation(path)
        do throws(FileError) {
            let directory = try location.openDirectory()
            guard unsafe unlinkat(directory.number, location.name, 0) == 0 || errno == ENOENT else {
                throw .afterCall("unlink", path: path)
            }
            try directory.synchronize()
        } catch  where error.reason == .missing {
            // If the directory is missing, the file is missing too.
        }
    }

    /// Renames a file or directory within a file system, and returns when the change is on the disk.
    ///
    /// An existing file of that name is replaced.
    package static func move(_ path: String, to newPath: String) throws(FileError) {
        let (old, new) = (try FileLocation(path), try FileLocation(newPath))
        let from = try old.openDirectory()
        let to = try new.openDirectory()
        guard unsafe renameat(from.number, old.name, to.number, new.name) == 0 else {
            throw .afterCall("rename", path: newPath)
        }
        try to.synchronize()
        try from.synchronize()
    }

    /// Gives a file a second name on the same file system (a hard link).
    ///
    /// Both names are equal: the file exists until both are removed. The call does not wait for the disk.
    package static func link(_ path: String, as newPath: String) throws(FileError) {
        guard !(path + newPath).utf8.contains(0) else { throw FileError(path: path, reason: .unusablePath) }
        guard unsafe Glibc.link(path, newPath) == 0 else { throw .afterCall("link", path: newPath) }
    }

    /// Opens a file for reading and checks the opened file.
    private static func open(
        _ path: String, maxBytes: Int, privacy: FilePrivacy
    ) throws(FileError) -> Descriptor {
        guard !path.utf8.contains(0) else { throw FileError(path: path, reason: .unusablePath) }
        // O_NONBLOCK: opening a FIFO must not wait for a writer. It has no effect on a regular file.
        let number = unsafe Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | privacy.openFlags)
        let file = try Descriptor(takingOwnershipOf: number, path: path, operation: "open")
        try privacy.expectPrivate(file.status(), path: path, maxBytes: maxBytes)
        return file
    }

    package static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, mode: UInt32 = 0o600, replacing: Bool
    ) throws(FileError) {
        let location = try FileLocation(path)
        let directory = try location.openDirectory()
        try unsafe place(bytes, at: location, in: directory, mode: mode, replacing: replacing)
        try directory.synchronize()
    }

    /// Writes the file under its name, and never leaves a temporary name behind.
    private static func place(
        _ bytes: UnsafeRawBufferPointer, at location: FileLocation, in directory: borrowing Descriptor, mode: mode_t,
        replacing: Bool
    ) throws(FileError) {
        var temporary = try TemporaryFile(for: location, in: directory)
        try unsafe temporary.fill(bytes, mode: mode)
        try temporary.rename(location, in: directory, replacing: replacing)
    }
}

/// A path split into its directory and the name in it.
///
/// The directory is opened once, and every step uses that descriptor. No process can replace the directory between the
/// steps.
struct FileLocation {
    let path: String
    let directory: String
    let name: String

    /// Refuses a path that names no file: empty, ending in "/", "." or "..", or with a zero byte.
    ///
    /// C would end the path at the zero byte.
    init(_ path: String) throws(FileError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let last = parts.last.map(String.init) ?? ""
        guard !path.utf8.contains(0), !["", ".", ".."].contains(last) else {
            throw FileError(path: path, reason: .unusablePath)
        }
        let above = parts.dropLast().joined(separator: "/")
        (self.path, name) = (path, last)
        directory = parts.count == 1 ? "." : above.isEmpty ? "/" : above
    }

    func openDirectory() throws(FileError) -> Descriptor {
        let number = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return try Descriptor(takingOwnershipOf: number, path: directory, operation: "open")
    }
}

extension DurableFile {
    /// Removes the temporary files that a crash during `write` left in a directory.
    ///
    /// Call it only while no process writes in the directory. A missing directory contains none.
    package static func removeLeftovers(in directory: String) throws(FileError) {
        guard !directory.utf8.contains(0) else { throw FileError(path: directory, reason: .unusablePath) }
        for name in try names(in: directory) where name.hasPrefix(TemporaryFile.prefix) {
            try remove(directory + "/" + name)
        }
    }

    private static func names(in path: String) throws(FileError) -> [String] {
        guard let directory = unsafe opendir(path) else {
            let error = FileError.afterCall("opendir", path: path)
            if error.reason == .missing { return [] }
            throw error
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }
}
