/// Why the agent does not start, with the exit status that sysexits.h has for it.
struct StartError: Error {
    enum Status: Int32 {
        case usage = 64
        /// What the state or a backup holds is not for this version, or damaged.
        case dataError = 65
        case noInput = 66
        case unavailable = 69
        case software = 70
        case osError = 71
        /// What is to be made cannot be: something stands there.
        case cannotCreate = 73
        case ioError = 74
        case noPermission = 77
        case config = 78
    }

    let status: Status
    /// One sentence: what, where, and what to do.
    let message: String

    init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }
}
