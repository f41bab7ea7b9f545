import CLinux

/// Who could look into this process's memory.
package enum ProcessExposure {
    /// The process that traces this one, as a debugger does; nil where none does.
    package static func tracer(status: String = "/proc/self/status") throws(CannotTell) -> Int32? {
        let lines = try KernelFile.text(status).split(separator: "\n")
        let name = "TracerPid:"
        guard let line = lines.first(where: { $0.hasPrefix(name) }),
            let pid = Int32(line.dropFirst(name.count).filter { $0 != "\t" && $0 != " " })
        else { throw CannotTell("\(status) has no \(name)") }
        return pid == 0 ? nil : pid
    }

    /// Whether the kernel may write this process's memory into a core dump, and lets processes of the same user read it.
    package static func isDumpable() throws(CannotTell) -> Bool {
        let answer = clinux_dumpable()
        guard answer >= 0 else { throw .afterCall("prctl PR_GET_DUMPABLE") }
        return answer != 0
    }
}
