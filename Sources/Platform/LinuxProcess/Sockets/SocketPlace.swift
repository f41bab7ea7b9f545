import CLinux
import Glibc

/// The place of a Unix socket in the file system, which this process claims with a lock beside it, `PATH.lock`.
///
/// Each check and each change opens the directory once and works in the opened directory, even if the path leads
/// elsewhere meanwhile.
package final class SocketPlace: Sendable {
    /// The state of a place.
    package enum State: Sendable, Equatable {
        /// The file of this process's socket.
        case ours
        case empty
        /// A socket without a listener.
        case abandoned
        /// A socket on which another process listens.
        case anothers
        /// A file, a directory or a symbolic link.
        case noSocket
    }

    package let path: String
    private let lock: StateLock

    private init(path: String, lock: StateLock) {
        self.path = path
        self.lock = lock
    }

    /// Claims the place for this process, and removes an abandoned socket.
    ///
    /// - Throws: ``SocketPlaceError`` if another process has the place, or if no socket can be created there.
    package static func claim(_ path: String) throws(SocketPlaceError) -> SocketPlace {
        guard path.utf8.count <= UnixAddress.maxBytes - "./".utf8.count else {
            throw .system(SystemError(operation: "bind \(path)", errno: ENAMETOOLONG))
        }
        let directory = try Directory(of: path, isToBeChanged: true)
        let lock: StateLock
        do throws(StateLockError) {
            lock = try StateLock.acquire(file: path + ".lock")
        } catch {
            switch error {
            case .heldBy: throw .taken
            case .system(let cause): throw .system(cause)
            }
        }
        let place = SocketPlace(path: path, lock: lock)
        do throws(SocketPlaceError) {
            try place.clear(directory)
        } catch {
            lock.release()
            throw error
        }
        return place
    }

    /// Checks whether others control the directory of a path, as a claim does.
    ///
    /// Returns `nil` if they do not, or if the directory is missing.
    package static func directoryProblem(of path: String) -> SocketPlaceError? {
        do throws(SocketPlaceError) {
            _ = try Directory(of: path, isToBeChanged: true)
            return nil
        } catch {
            if case .insecure = error { return error }
            return nil
        }
    }

    /// Gives up the place; a second call has no effect.
    package func release() { lock.release() }

    /// Returns the state of the place.
    ///
    /// - Parameter file: the result of ``file(group:couldNot:)``, or `nil` if there is none.
    package func state(for file: SocketFile?) throws(SocketPlaceError) -> State {
        try state(in: Directory(of: path, isToBeChanged: false), for: file)
    }

    /// Prepares the place for a new socket: it must be empty, or have an abandoned socket, which is removed.
    ///
    /// - Throws: ``SocketPlaceError`` if another file is there, or if another process has the lock by now.
    package func clear() throws(SocketPlaceError) {
        let directory = try Directory(of: path, isToBeChanged: true)
        // The socket's lock may have been removed with the socket: then another agent could claim the place.
        guard lock.reacquire() else { throw .taken }
        try clear(directory)
    }

    private func clear(_ directory: borrowing Directory) throws(SocketPlaceError) {
        switch try state(in: directory, for: nil) {
        case .ours, .anothers: throw .taken
        case .noSocket: throw .noSocket
        case .empty: return
        case .abandoned:
            guard unsafe unlinkat(directory.number, directory.name, 0) == 0 || errno == ENOENT else {
                throw .system(.afterCall("unlink \(path)"))
            }
        }
    }

    private func state(
        in directory: borrowing Directory, for file: SocketFile?
    ) throws(SocketPlaceError) -> State {
        var status = stat()
        guard unsafe fstatat(directory.number, directory.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw .system(.afterCall("stat \(path)")) }
            return .empty
        }
        if let file, file.isSame(status) { return .ours }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return .noSocket }
        // `UnixAddress` takes a name that begins with @ for an abstract name, which is in no directory.
        let address = UnixAddress(Array(((path.utf8.first == UInt8(ascii: "@") ? "./" : "") + path).utf8))
        do throws(SystemError) {
            return try address.listener() == getpid() ? .ours : .anothers
        } catch {
            switch error.errno {
            case ECONNREFUSED: return .abandoned
            case ENOENT: return .empty
            // The listener's queue is full, as that of a stopped agent, or the socket is not a stream.
            case EAGAIN, EPROTOTYPE: return .anothers
            default: throw .system(SystemError(operation: "connect \(path)", errno: error.errno))
            }
        }
    }

    /// Opens the file of a socket that this process has just bound, and sets its mode and group.
    ///
    /// The mode is 0600, or 0660 with the group. Before, it is the result of the umask, which is 0700.
    ///
    /// - Parameter couldNot: called with "mode" or "group", and errno, if that cannot be set.
    /// - Returns: `nil` if the file was removed or replaced already.
    package func file(
        group: UInt32?, couldNot: (_ part: String, _ errno: CInt) -> Void
    ) throws(SocketPlaceError) -> SocketFile? {
        let directory = try Directory(of: path, isToBeChanged: true)
        let number = unsafe clinux_open_place(directory.number, directory.name)
        guard number >= 0 else {
            guard errno == ENOENT else { throw .system(.afterCall("open \(path)")) }
            return nil
        }
        guard let file = SocketFile(takingOwnershipOf: number) else { return nil }
        file.give(to: group, couldNot)
        return file
    }
}

/// The open directory of a socket, and the socket's name in it.
private struct Directory: ~Copyable {
    let number: CInt
    let name: String

    /// - Parameter isToBeChanged: whether files in it are created, given away or removed.
    /// - Throws: ``SocketPlaceError`` if it is missing, or if root would change a directory that others control.
    init(of path: String, isToBeChanged: Bool) throws(SocketPlaceError) {
        // By bytes: a slash with a combining mark is another character.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        // With the slash at its end, a symbolic link is followed.
        let directory = slash.map { String(path[...$0]) } ?? "./"
        let opened = unsafe clinux_open_directory(directory)
        guard opened >= 0 else { throw .system(.afterCall("open \(directory)")) }
        if isToBeChanged, let problem = Self.problem(opened) {
            close(opened)
            throw .insecure(directory: directory, problem)
        }
        number = opened
        name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    deinit { _ = close(number) }

    /// Returns a reason if others control a directory that root would change.
    ///
    /// The user who controls the directory decides which file root gives away, and which it removes. In a directory
    /// with the sticky bit, others cannot rename or remove root's files.
    private static func problem(_ number: CInt) -> String? {
        var status = stat()
        guard geteuid() == 0, unsafe fstat(number, &status) == 0 else { return nil }
        if status.st_uid != 0 { return "belongs to uid \(status.st_uid)" }
        let isOpen = status.st_mode & 0o022 != 0 && status.st_mode & S_ISVTX == 0
        return isOpen ? "can be written to by others (mode 0\(String(status.st_mode & 0o7777, radix: 8)))" : nil
    }
}

/// The reason why no socket can be created at a place.
package enum SocketPlaceError: Error, Equatable, Sendable {
    /// Another process listens there, or has the place's lock.
    case taken
    /// A file that is not a socket is there.
    case noSocket
    /// Others control the directory, and this process is root's; the text says how they control it.
    case insecure(directory: String, String)
    case system(SystemError)
}
