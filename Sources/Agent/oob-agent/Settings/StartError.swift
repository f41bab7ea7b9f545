import AgentHost
import ControlServer
import Glibc
import Keys
import Records

/// Why the agent does not start, with the exit status that sysexits.h has for it.
struct StartError: Error {
    enum Status: Int32, CaseIterable {
        case usage = 64
        /// The state is damaged or was moved, or the backup is damaged or of another version.
        case dataError = 65
        case noInput = 66
        case unavailable = 69
        case software = 70
        case osError = 71
        /// What is to be restored or moved into is not empty.
        case cannotCreate = 73
        case ioError = 74
        case noPermission = 77
        case config = 78

        /// What the status means, in a few words, for the help.
        var meaning: String {
            switch self {
            case .usage: "wrong usage"
            case .dataError: "the state is damaged or moved, the backup damaged or of another version"
            case .noInput: "the secret or the backup that is named is not there, or cannot be read"
            case .unavailable: "the state, the socket or a port is another process's"
            case .software: "an error of the agent's own"
            case .osError: "the operating system refused what the agent needs, such as open files"
            case .cannotCreate: "what is to be restored or moved into is not empty"
            case .ioError: "the disk of the state or of the output is full, read-only or failing"
            case .noPermission: "a file or directory may not be used, or is open to others"
            case .config: "a setting or the secret is wrong, or another version made the state"
            }
        }

        /// A line for each, as the program's help has it.
        static var help: String {
            (["   0  stopped in order"] + allCases.map { "  \($0.rawValue)  \($0.meaning)" }).joined(separator: "\n")
        }
    }

    let status: Status
    /// One sentence: what, where, and what to do.
    let message: String

    init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }
}

extension StartError.Status {
    /// The status for a file that the system refused, by errno.
    ///
    /// Full disks and process limits may pass by themselves; owners and modes need a person.
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

extension StartError {
    init(_ error: ControlServerError) {
        let status: Status =
            switch error {
            case .taken, .unusable: .unavailable
            case .misplaced: .config
            case .insecure: .noPermission
            }
        self.init(status, "\(error)")
    }

    /// Statuses for which a start that is simply tried again may go well: 69 and 74.
    init(_ trouble: StoreError) {
        let status: Status =
            switch trouble.kind {
            case .full, .io: .ioError
            case .busy, .unreachable, .clock, .shutOut: .unavailable
            case .readOnly, .notOurs: .noPermission
            case .corrupt, .forged, .moved: .dataError
            case .newerForm, .unknownForm, .backup: .config
            case .other: .software
            }
        self.init(status, trouble.sentence)
    }

    /// An unknown error is an internal error.
    init(_ error: any Error) {
        switch error {
        case let known as StartError: self = known
        case let trouble as StoreError: self.init(trouble)
        default:
            self.init(
                .software,
                "internal error, or another program wrote to the database: \(error)")
        }
    }
}
