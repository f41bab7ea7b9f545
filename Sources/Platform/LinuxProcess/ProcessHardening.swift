import CLinux
import Glibc

/// The protections that a process with keys sets for itself, before it reads the first key.
package enum ProcessHardening {
    /// Makes new files private, keeps memory off disks and from debuggers, and opens closed standard streams.
    ///
    /// Call it first in `main`, before there are any threads: the umask belongs to the whole process.
    package static func apply() throws(SystemError) {
        // Not 0177, which would remove the search permission from directories.
        umask(0o077)
        try occupyStandardStreams()
        try forbidDumps()
    }

    /// Opens /dev/null in the place of a standard stream that is closed.
    ///
    /// Otherwise a file that is opened later gets its number, and receives the output to the stream.
    private static func occupyStandardStreams() throws(SystemError) {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            // open(2) returns the lowest free number.
            guard unsafe open("/dev/null", O_RDWR) == stream else { throw .afterCall("open /dev/null") }
        }
    }

    /// Keeps memory off disks and from debuggers, for a process that has a secret for a moment.
    package static func forbidDumps() throws(SystemError) {
        // No core dump, and no ptrace by processes of the same user (prctl(2), PR_SET_DUMPABLE).
        guard clinux_forbid_dumps() == 0 else { throw .afterCall("prctl PR_SET_DUMPABLE") }
        // This also prevents a core dump, in case later code makes the process dumpable again.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
            throw .afterCall("setrlimit RLIMIT_CORE")
        }
    }
}

/// The processes and files that could get this process's memory.
package enum ProcessExposure {
    /// Returns the process that traces this one, as a debugger does, or `nil` if there is none.
    package static func tracer(status: String = "/proc/self/status") throws(UnknownFactError) -> Int32? {
        let lines = try KernelFile.text(status).split(separator: "\n")
        let name = "TracerPid:"
        guard let line = lines.first(where: { $0.hasPrefix(name) }),
            let pid = Int32(line.dropFirst(name.count).filter { $0 != "\t" && $0 != " " })
        else { throw UnknownFactError("\(status) has no \(name)") }
        return pid == 0 ? nil : pid
    }

    /// Returns whether the kernel may dump this process's memory, and lets processes of its user read it.
    package static func isDumpable() throws(UnknownFactError) -> Bool {
        let answer = clinux_dumpable()
        guard answer >= 0 else { throw .afterCall("prctl PR_GET_DUMPABLE") }
        return answer != 0
    }
}
