import CLinux
import FoundationEssentials
import Glibc
import Synchronization

/// A run of `/bin/sh -c COMMAND` in a process group of its own, and its output.
package final class ShellRun: Sendable {
    package enum Status: Sendable, Equatable { case exited(Int32), killed(Int32) }

    private static let shell = "/bin/sh"

    private let reading: Int32
    private let process: pid_t
    /// Whether the process was reaped (waitpid(2)), so that its number may be another process's.
    private let isOver = Mutex(false)
    private let isKilled = Mutex(false)
    /// The pause between checks for a kill: a process that left its group may keep its output open.
    private static let lookEvery = 200.0  // milliseconds

    /// - Parameters:
    ///   - variables: added to the environment of this process.
    ///   - input: the standard input, empty by default. It is stored in a file without a name, so a command that does
    ///     not read it blocks no thread.
    /// - Throws: `SystemError` if the command cannot be started.
    package init(_ command: String, variables: [String: String], input: [UInt8] = []) throws(SystemError) {
        let inputFile = try Self.file(of: input)
        defer { close(inputFile) }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError(operation: "pipe", errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        unsafe posix_spawn_file_actions_adddup2(&files, inputFile, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        // The command must not inherit the signals that this process ignores and its threads block.
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(&attributes, Self.flags)
        // If this process ignored it, the exit status would be lost (waitpid(2)).
        _ = signal(SIGCHLD, SIG_DFL)
        let environment = ProcessInfo.processInfo.environment.merging(variables) { _, new in new }
        var process: pid_t = 0
        let error = unsafe SpawnStrings.with(
            [Self.shell, "-c", command], environment.map { "\($0.key)=\($0.value)" }
        ) { arguments, environment in
            unsafe posix_spawn(&process, Self.shell, &files, &attributes, &arguments, &environment)
        }
        guard error == 0 else {
            close(ends[0])
            throw SystemError(operation: Self.shell, errno: error)
        }
        reading = ends[0]
        self.process = process
    }

    deinit { close(reading) }

    private static func file(of input: [UInt8]) throws(SystemError) -> Int32 {
        guard !input.isEmpty else {
            let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard null >= 0 else { throw SystemError(operation: "/dev/null", errno: errno) }
            return null
        }
        let file = clinux_unnamed_file()
        guard file >= 0 else { throw SystemError(operation: "memfd_create", errno: errno) }
        let count = unsafe input.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        guard count == input.count, lseek(file, 0, SEEK_SET) == 0 else {
            let number = errno
            close(file)
            throw SystemError(operation: "memfd_create", errno: number)
        }
        return file
    }

    private static let flags = Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)

    /// Kills the process and all its child processes, unless they have left its process group.
    package func kill() {
        isKilled.withLock { $0 = true }
        isOver.withLock { if !$0 { _ = Glibc.kill(-process, SIGKILL) } }
    }

    /// Reads the output until the command closes it, or until there is more than `limit`.
    ///
    /// If there is more, the result has one byte more than `limit`. Returns `nil` if that takes longer than until
    /// `end`, or if the process is killed first.
    package func bytes(upTo limit: Int, until end: ContinuousClock.Instant) -> [UInt8]? {
        var all: [UInt8] = []
        while all.count <= limit {
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            guard left > 0, !isKilled.withLock({ $0 }) else { return nil }
            var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, Int32(min(left, Self.lookEvery).rounded(.up))) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: limit + 1 - all.count)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(reading, $0.baseAddress, $0.count) }
            if count == 0 { return all }
            if count > 0 { all += buffer.prefix(count) }
        }
        return all
    }

    /// Waits for the end of the process, or kills it at `end` and returns `nil`.
    ///
    /// The status is -1 if it is not known.
    package func status(until end: ContinuousClock.Instant) -> Status? {
        var (pause, isLate): (UInt32, Bool) = (500, false)
        while true {
            var status: Int32 = 0
            let found = isOver.withLock { isOver in
                let found = unsafe waitpid(process, &status, WNOHANG)
                if found != 0 { isOver = true }
                return found
            }
            guard found >= 0 else { return .exited(-1) }
            if found != 0 {
                guard !isLate else { return nil }
                let number = status & 0x7F
                return number == 0 ? .exited(status >> 8 & 0xFF) : .killed(number)
            }
            if ContinuousClock.now >= end {
                isLate = true
                kill()
            }
            // The process has closed its output, so it ends in a moment. No event reports that.
            usleep(pause)
            pause = min(2 * pause, 20_000)
        }
    }
}
