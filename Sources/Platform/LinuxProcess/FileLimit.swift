import Glibc

/// The number of files that this process may open (getrlimit(2), `RLIMIT_NOFILE`).
package enum FileLimit {
    /// The smallest limit with which each program of this package works.
    package static let least = 64
    /// The exit status EX_OSERR of sysexits.h.
    private static let exitStatus: CInt = 71

    /// The soft limit, or the limit of most shells if the system does not report it.
    package static var files: Int { current().map { Int(clamping: $0.rlim_cur) } ?? 1_024 }

    /// Raises the soft limit to the hard limit, and ends the program if that is below ``least``.
    ///
    /// Call it first in `main`, before any file is opened: libraries trap if they get no descriptor.
    package static func raise(for program: String) {
        guard var limit = current() else { return }
        if limit.rlim_cur < limit.rlim_max {
            var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
            if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        guard let complaint = complaint(ofFiles: limit.rlim_cur) else {
            return shareEventLoops(Int(clamping: limit.rlim_cur))
        }
        let line = Array("\(program): \(complaint)\n".utf8)
        // An error is ignored, because it cannot be reported anywhere.
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(exitStatus)
    }

    /// Returns a sentence if the limit is too low, and `nil` otherwise.
    static func complaint(ofFiles files: rlim_t) -> String? {
        guard files < rlim_t(least) else { return nil }
        return "this process may open \(files) files and needs \(least): "
            + "raise the limit (ulimit -n, or LimitNOFILE= of a unit)"
    }

    /// Limits swift-nio's event loops if one per processor would take more than a twentieth of the files.
    ///
    /// Each event loop has three descriptors.
    private static func shareEventLoops(_ files: Int) {
        let loops = max(files / 64, 1)
        guard loops < sysconf(CInt(_SC_NPROCESSORS_ONLN)) else { return }
        _ = unsafe setenv("NIO_SINGLETON_GROUP_LOOP_COUNT", "\(loops)", 0)
    }

    /// Limits the requested connections to a quarter of the files that this process may open.
    ///
    /// The limit is at least two. Another server, issuers and the store need files too.
    package static func connections(_ wanted: Int) -> Int { connections(wanted, ofFiles: files) }

    static func connections(_ wanted: Int, ofFiles files: Int) -> Int { min(wanted, max(files / 4, 2)) }

    /// The connections to issuers for polls: a quarter of the files beside the program's own, at most 4,096.
    package static var polls: Int { polls(ofFiles: files) }

    /// The polls that issuers may hold: three quarters, so that other polls have connections too.
    package static var longPolls: Int { polls / 4 * 3 }

    /// The connections to issuers for all other calls; polls never use them.
    package static var calls: Int { calls(ofFiles: files) }

    static func polls(ofFiles files: Int) -> Int { min(max((files - own) / 4, 4), 4_096) }

    static func calls(ofFiles files: Int) -> Int { min(max((files - own) / 16, 4), 1_024) }

    /// The files of a program itself: its database, its log, its listeners, its event loops.
    private static let own = 48

    private static func current() -> rlimit? {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
    }
}
