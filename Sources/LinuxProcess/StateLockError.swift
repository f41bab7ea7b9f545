import Glibc

/// Why a state directory could not be locked.
package enum StateLockError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another process has it; `pid` is nil where that process has not said yet which it is.
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
        default: ""
        }
    }
}
