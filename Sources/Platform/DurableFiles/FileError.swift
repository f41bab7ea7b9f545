import Glibc

/// An error on a file or directory, with advice for the operator.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// A file of that name exists, and it must not be replaced.
        case exists
        /// The file or its directory is missing.
        case missing
        /// The path is empty, does not end in a name, or contains a zero byte.
        case unusablePath
        case notRegularFile
        case notDirectory
        /// The owner is neither this process's user nor root.
        case wrongOwner(uid: UInt32)
        /// The group or others have permissions that they must not have.
        case tooPermissive(mode: UInt32, advised: String)
        case tooLarge(maxBytes: Int)
        /// A system call failed; `operation` is its name.
        case system(operation: String, errno: CInt)
    }

    package let path: String
    package let reason: Reason

    /// The errno of the system call, if a call failed.
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
        // glibc keeps the text per thread (strerror(3)), and the text is copied at once.
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
