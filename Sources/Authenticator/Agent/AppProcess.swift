import StrictJSON

/// The process that the core itself runs in, where that is an app's.
package struct AppProcess: Sendable, Equatable {
    package let uid: UInt32
    package let pid: Int32
    /// Its name, fit for a terminal.
    package let process: String

    package init(uid: UInt32, pid: Int32, process: String) {
        self.uid = uid
        self.pid = pid
        self.process = process
    }

    /// The members that an entry has about it; an app is given the transaction's members, and not the agent's text.
    var journaled: JSONObject {
        [
            "by": "app", "uid": .integer(Int64(uid)), "pid": .integer(Int64(pid)), "process": .string(process),
            "shown": "nothing",
        ]
    }
}
