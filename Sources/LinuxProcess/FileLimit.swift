import Glibc

/// How many files this process may open (getrlimit(2), `RLIMIT_NOFILE`).
package enum FileLimit {
    /// The connections that were asked for, within a quarter of the files this process may open.
    ///
    /// At least two. Another server, issuers and the store need files too.
    package static func connections(_ wanted: Int) -> Int {
        var files = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return wanted }
        return connections(wanted, ofFiles: files.rlim_cur)
    }

    static func connections(_ wanted: Int, ofFiles files: rlim_t) -> Int {
        min(wanted, max(Int(clamping: files / 4), 2))
    }
}
