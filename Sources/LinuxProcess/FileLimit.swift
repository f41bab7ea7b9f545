import Glibc

/// How many files this process may open (getrlimit(2), `RLIMIT_NOFILE`).
package enum FileLimit {
    /// As many connections as were asked for, but at most a quarter of the files that this process may open, and
    /// two at least: another server, issuers and the store need some too.
    package static func connections(_ wanted: Int) -> Int {
        var files = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return wanted }
        return connections(wanted, ofFiles: files.rlim_cur)
    }

    static func connections(_ wanted: Int, ofFiles files: rlim_t) -> Int {
        min(wanted, max(Int(clamping: files / 4), 2))
    }
}
