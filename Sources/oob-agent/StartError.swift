/// Why the agent does not start, with the exit status that sysexits.h has for it.
struct StartError: Error {
    enum Status: Int32 {
        case usage = 64
        case noInput = 66
        case unavailable = 69
        case software = 70
        case osError = 71
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
