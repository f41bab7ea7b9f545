import AgentHost
import ControlServer
import Glibc
import Keys
import Records

/// The reason why the agent does not start, with an exit status of sysexits.h.
struct StartError: Error {
    enum Status: Int32, CaseIterable {
        case usage = 64
        /// The state is damaged or was moved, or the backup is damaged or of another version.
        case dataError = 65
        case noInput = 66
        case unavailable = 69
        case software = 70
        case osError = 71
        /// The target of a restore or a move is not empty.
        case cannotCreate = 73
        case ioError = 74
        case noPermission = 77
        case config = 78

        /// The meaning of the status in a few words, for the help.
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

        /// A line for each status, for the program's help.
        static var help: String {
            (["   0  stopped in order"] + allCases.map { "  \($0.rawValue)  \($0.meaning)" }).joined(separator: "\n")
        }
    }

    let status: Status
    /// A sentence: the fault, its place and the remedy.
    let message: String

    init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }
}

extension StartError.Status {
    /// The status for a file error, by errno.
    ///
    /// Full disks and process limits may resolve by themselves. Wrong owners and modes need a person.
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

    /// Maps a store error; with the statuses 69 and 74 a later start may succeed without any change.
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

    /// Maps any error; an unknown one is an internal error.
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
