import Glibc
import Synchronization

/// The claim of one process to a state directory.
///
/// It is a lock on the directory's file `agent.lock`, which contains the process's id.
///
/// The kernel releases the lock when the process ends in any way, so a crash needs no cleanup. The file stays: removing
/// it would let two processes lock two files of the same name.
package final class StateLock: Sendable {
    package static let fileName = "agent.lock"

    /// The locked file.
    package let path: String

    private let file: Mutex<CInt?>

    private init(path: String, file: CInt) {
        self.path = path
        self.file = Mutex(file)
    }

    /// Releases the lock; a second call has no effect.
    package func release() {
        let held = file.withLock { file in
            defer { file = nil }
            return file
        }
        guard let held else { return }
        // A child process that starts at this moment has a copy of the descriptor until it executes its program.
        flock(held, LOCK_UN)
        close(held)
    }

    /// Locks the directory until ``release()``, or for the rest of the process's life.
    ///
    /// The lock does not depend on the returned value, whose release does not close the descriptor. Swift may release a
    /// value right after its last use, long before the process ends.
    @discardableResult
    package static func acquire(directory: String) throws(StateLockError) -> StateLock {
        // The directory is private, and a snapshot of it may have other names of its files.
        try acquire(path: directory + "/" + fileName, mayHaveOtherNames: true)
    }

    /// Locks a file of any name in any directory, as ``acquire(directory:)`` does, and creates it if it is missing.
    @discardableResult
    package static func acquire(file path: String) throws(StateLockError) -> StateLock {
        try acquire(path: path, mayHaveOtherNames: false)
    }

    private static func acquire(path: String, mayHaveOtherNames: Bool) throws(StateLockError) -> StateLock {
        let file = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system(.afterCall("open \(path)")) }
        do throws(StateLockError) {
            if !mayHaveOtherNames { try expectOneName(file, path: path) }
            try lock(file, path: path)
            try writeProcessID(to: file, path: path)
        } catch {
            close(file)
            throw error
        }
        return StateLock(path: path, file: file)
    }

    /// Locks the file of that name again, and returns whether this process has the lock.
    ///
    /// A file that was removed is created again. A file that another process has locked stays locked by it. If no file
    /// can be created, the existing lock stays.
    package func reacquire() -> Bool {
        file.withLock { held in
            guard let number = held else { return false }
            var (own, there) = (stat(), stat())
            guard unsafe fstat(number, &own) == 0 else { return false }
            if unsafe lstat(path, &there) == 0, there.st_dev == own.st_dev, there.st_ino == own.st_ino { return true }
            do throws(StateLockError) {
                let anew = try Self.acquire(file: path)
                held = anew.file.withLock { file in
                    defer { file = nil }
                    return file
                }
                close(number)
                return true
            } catch {
                if case .heldBy = error { return false }
                return true
            }
        }
    }

    private static func lock(_ file: CInt, path: String) throws(StateLockError) {
        // flock(2), not fcntl(2), whose lock ends when any descriptor of the file is closed.
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { throw .system(.afterCall("flock \(path)")) }
            throw .heldBy(pid: processID(in: file), path: path)
        }
    }

    /// Refuses a file that has another name too, because a write would change the file under that name.
    private static func expectOneName(_ file: CInt, path: String) throws(StateLockError) {
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .system(.afterCall("fstat \(path)")) }
        guard status.st_nlink <= 1 else { throw .system(SystemError(operation: "open \(path)", errno: EMLINK)) }
    }

    private static func writeProcessID(to file: CInt, path: String) throws(StateLockError) {
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(file, 0) == 0 else { throw .system(.afterCall("ftruncate \(path)")) }
        guard unsafe pwrite(file, text, text.count, 0) == text.count else {
            throw .system(.afterCall("write \(path)"))
        }
    }

    /// Returns the process id that the holder wrote, or `nil` if it is not written yet or is invalid.
    private static func processID(in file: CInt) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(file, &bytes, bytes.count, 0)
        guard count > 1, bytes[count - 1] == UInt8(ascii: "\n") else { return nil }
        return Int32(String(decoding: bytes.prefix(count - 1), as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }
}

/// The reason why a state directory could not be locked.
package enum StateLockError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another process has the lock; `pid` is `nil` if that process has not written its id yet.
    case heldBy(pid: Int32?, path: String)
    case system(SystemError)

    package var description: String {
        switch self {
        case .heldBy(let pid?, let path): "\(path) is locked by process \(pid); stop it, or use another directory"
        case .heldBy(nil, let path): "\(path) is locked by another process; stop it, or use another directory"
        case .system(let cause): cause.description + Self.advice(cause.errno)
        }
    }

    private static func advice(_ number: CInt) -> String {
        switch number {
        case EACCES, EPERM: "; check its owner and mode: an agent that another user ran may have made it"
        case ELOOP: "; it is a symbolic link: move it away"
        case EMLINK: "; the file has another name as well: move it away"
        default: ""
        }
    }
}
