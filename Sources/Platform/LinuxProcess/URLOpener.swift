import FoundationEssentials
import Glibc

/// Opens URLs with xdg-open.
///
/// The URL is one argument, and no shell runs.
package enum URLOpener {
    private static let program = "xdg-open"

    /// Starts xdg-open, and does not wait for it.
    ///
    /// Its output is discarded, because standard output is for data.
    ///
    /// - Returns: the reason why it could not be started, or `nil` if it was started.
    package static func open(_ url: String) -> String? {
        // Reaps earlier child processes that have ended.
        while waitpid(-1, nil, WNOHANG) > 0 {}
        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&files, number, "/dev/null", O_RDWR, 0)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // xdg-open must not inherit ignored or blocked signals, such as SIGPIPE.
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe posix_spawnattr_setflags(
            &attributes, ownSession | Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let error = unsafe SpawnStrings.with([program, url], environment) { arguments, environment in
            var process: pid_t = 0
            return unsafe posix_spawnp(&process, program, &files, &attributes, &arguments, &environment)
        }
        return error == 0 ? nil : "\(program): \(unsafe String(cString: strerror(error)))"
    }

    /// POSIX_SPAWN_SETSID, which Glibc's module lacks.
    ///
    /// With it, xdg-open has no terminal, so Ctrl-C here does not end it.
    private static let ownSession: Int16 = 0x80

    private static var environment: [String] {
        ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    }
}
