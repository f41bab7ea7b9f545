import GRDB
import Glibc
import Records

extension StoreError {
    /// Converts SQLite's result codes (sqlite.org/rescode.html) to the agent's errors.
    ///
    /// `nil` for a code that only a bug in this program causes.
    init?(_ error: DatabaseError, at path: String) {
        guard let kind = Self.kind(of: error.resultCode, at: path) else { return nil }
        let code = error.extendedResultCode.rawValue
        self.init(kind, at: path, detail: "\(error.message ?? "no message"), SQLite's result code \(code)")
    }

    /// The error of a system call.
    init(systemError: CInt, at path: String) {
        let kind: Kind =
            switch systemError {
            case EROFS: .readOnly
            case EACCES, EPERM, ELOOP: .notOurs
            case ENOSPC, EDQUOT: .full
            default: .io
            }
        // glibc keeps the text per thread (strerror(3)), and it is copied at once.
        self.init(kind, at: path, detail: unsafe String(cString: strerror(systemError)))
    }

    private static func kind(of code: ResultCode, at path: String) -> Kind? {
        switch code {
        case .SQLITE_FULL: .full
        case .SQLITE_READONLY: .readOnly
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
        case .SQLITE_CANTOPEN, .SQLITE_PERM: .notOurs
        case .SQLITE_IOERR: kindByFileSystem(of: path)
        case .SQLITE_CONSTRAINT, .SQLITE_ERROR, .SQLITE_MISUSE, .SQLITE_MISMATCH, .SQLITE_RANGE, .SQLITE_TOOBIG: nil
        default: .other
        }
    }

    /// Tells a full disk from a failing one: SQLite reports no space for its shared memory as an I/O error.
    private static func kindByFileSystem(of path: String) -> Kind {
        var system = statvfs()
        guard unsafe statvfs(path, &system) == 0 else { return .io }
        return system.f_blocks > 0 && system.f_bavail == 0 ? .full : .io
    }

    /// A copy for a write that may reappear after a power cut.
    var inDoubt: StoreError { StoreError(kind, at: path, detail: detail, isInDoubt: true) }
}
