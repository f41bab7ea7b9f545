import AgentHost
import Glibc
import Keys

extension StartError.Status {
    /// What a start fails with where the system has refused a file, by what it said (errno).
    ///
    /// The disk and the limits of the process may be better at the next start; owners and modes want a person.
    init(_ systemError: CInt?) {
        self =
            switch systemError {
            case ENOSPC, EDQUOT, EIO, EROFS: .ioError
            case EMFILE, ENFILE, ENOMEM: .osError
            default: .noPermission
            }
    }
}

extension StartError {
    init(_ error: StateClaimError) {
        switch error {
        case .held: self.init(.unavailable, "\(error)")
        case .unusable(_, let systemError): self.init(Status(systemError), "\(error)")
        }
    }
}
