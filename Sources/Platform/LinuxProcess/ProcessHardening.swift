import CLinux
import Glibc

/// What a process that holds keys sets for itself, before it reads the first one.
package enum ProcessHardening {
    /// Files for this user only, no memory on a disk or in a debugger, and no file in a standard stream's place.
    ///
    /// To be called first in `main`, before any thread is there: the umask belongs to the whole process.
    package static func apply() throws(SystemError) {
        // Not 0177, which would take the search permission from directories.
        umask(0o077)
        try occupyStandardStreams()
        try forbidDumps()
    }

    /// Opens /dev/null in the place of a standard stream that is closed.
    ///
    /// Otherwise a file that is opened later has its number, and gets what is written to the stream.
    private static func occupyStandardStreams() throws(SystemError) {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            // open(2) takes the lowest number that is free.
            guard unsafe open("/dev/null", O_RDWR) == stream else { throw .afterCall("open /dev/null") }
        }
    }

    /// No memory on a disk or in a debugger: for a process that holds a secret for a moment.
    package static func forbidDumps() throws(SystemError) {
        // No core dump, and no ptrace by processes of the same user (prctl(2), PR_SET_DUMPABLE).
        guard clinux_forbid_dumps() == 0 else { throw .afterCall("prctl PR_SET_DUMPABLE") }
        // Again no core dump, in case something below makes the process dumpable once more.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
            throw .afterCall("setrlimit RLIMIT_CORE")
        }
    }
}

/// Who could look into this process's memory.
package enum ProcessExposure {
    /// The process that traces this one, as a debugger does; nil if none does.
    package static func tracer(status: String = "/proc/self/status") throws(UnknownFactError) -> Int32? {
        let lines = try KernelFile.text(status).split(separator: "\n")
        let name = "TracerPid:"
        guard let line = lines.first(where: { $0.hasPrefix(name) }),
            let pid = Int32(line.dropFirst(name.count).filter { $0 != "\t" && $0 != " " })
        else { throw UnknownFactError("\(status) has no \(name)") }
        return pid == 0 ? nil : pid
    }

    /// Whether the kernel may write this process's memory into a core dump, and lets processes of the same user read it.
    package static func isDumpable() throws(UnknownFactError) -> Bool {
        let answer = clinux_dumpable()
        guard answer >= 0 else { throw .afterCall("prctl PR_GET_DUMPABLE") }
        return answer != 0
    }
}
