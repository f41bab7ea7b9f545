import Glibc
import Journal
import TextAndTime

extension ControlPeer {
    init(_ caller: Caller) {
        let peer = caller.peer
        self.init(uid: peer.uid, gid: caller.gid, pid: peer.pid, process: ProcessName.of(peer.pid))
    }
}

/// The name of a process, as the process has set it.
enum ProcessName {
    /// The bytes of the name and a line feed (proc(5): TASK_COMM_LEN).
    private static let maxBytes = 17

    /// Safe for a terminal, empty if the process has ended.
    static func of(_ pid: Int32) -> String {
        let file = unsafe open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: maxBytes)
        let count = unsafe read(file, &bytes, bytes.count)
        let name = bytes.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: "\n") }
        return DisplayText(String(decoding: name, as: UTF8.self)).text
    }
}
