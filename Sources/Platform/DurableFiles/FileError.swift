import Glibc

/// What went wrong with a file or directory, and what to do about it.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// A file of that name is there already, and it is not to be replaced.
        case exists
        /// There is no such file, or its directory is missing.
        case missing
        /// The path is empty, ends in no name, or holds a zero byte.
        case unusablePath
        case notRegularFile
        case notDirectory
        /// It belongs to a user that is neither this process's nor root.
        case wrongOwner(uid: UInt32)
        /// Group or others have permissions that they must not have.
        case tooPermissive(mode: UInt32, advised: String)
        case tooLarge(maxBytes: Int)
        /// A system call failed; `operation` is its name.
        case system(operation: String, errno: CInt)
    }

    package let path: String
    package let reason: Reason

    /// What the system said (errno), if a call failed.
    package var systemError: CInt? {
        guard case .system(_, let number) = reason else { return nil }
        return number
    }

    package var description: String { "\(path): \(problem)" }

    private var problem: String {
        switch reason {
        case .exists: "it already exists and is not overwritten; move it away if it is not needed"
        case .missing: "there is no such file or directory; check the path"
        case .unusablePath: "this is not the path of a file; give a path that ends in a file name"
        case .notRegularFile: "it is not a regular file; put the file itself there, not a link to it"
        case .notDirectory: "it is not a directory; move it away or choose another path"
        case .wrongOwner(let uid): "it belongs to uid \(uid): run as that user, or chown it to uid \(geteuid())"
        case .tooPermissive(let mode, let advised):
            "its mode is 0\(String(mode, radix: 8)), which lets other users at it; chmod \(advised) it"
        case .tooLarge(let maxBytes): "it has more than \(maxBytes) bytes; larger files are rejected"
        case .system(let operation, let number): "\(operation): \(Self.text(number)); \(Self.advice(number))"
        }
    }

    private static func text(_ number: CInt) -> String {
        // glibc keeps the text per thread (strerror(3)), and it is copied at once.
        unsafe String(cString: strerror(number))
    }

    private static func advice(_ number: CInt) -> String {
        switch number {
        case EACCES, EPERM: "check the owner and the mode of the file and of the directories above it"
        case ENOSPC, EDQUOT: "make room on the file system"
        case EROFS: "choose a path on a writable file system"
        case EIO: "check the disk and the kernel's log"
        case EMFILE, ENFILE: "raise the limit of open files"
        default: "check the path and the file system"
        }
    }
}
