import Control
import FoundationEssentials
import Glibc
import LinuxProcess
import Synchronization

/// The command that prints an enrollment's code or link: `/bin/sh -c COMMAND`, once for each enrollment.
///
/// Its standard input is empty, its standard error is oobctl's, and `OOB_ENROLLMENT_NAME` is the name of the enrollment.
struct CodeCommand: Sendable {
    static let deadlines = 1...600
    static let maxOutput = 4_096

    let command: String
    /// How long one run may take.
    let seconds: Int

    /// Runs it; if the task is cancelled it is killed.
    ///
    /// - Returns: the line that it printed, without its end.
    /// - Throws: `ClientError` that says what it did: its exit status, a signal, no line, several, or no end in time.
    func line(for name: String) async throws(ClientError) -> String {
        do {
            let output = try ShellOutput(command, variables: ["OOB_ENROLLMENT_NAME": name])
            return try await withTaskCancellationHandler {
                try await OwnThread.run { try read(output) }
            } onCancel: {
                output.kill()
            }
        } catch let error as ClientError {
            throw error
        } catch {
            throw Self.failure("cannot be started: \(error)")
        }
    }

    private func read(_ output: ShellOutput) throws(ClientError) -> String {
        let end = ContinuousClock.now + .seconds(seconds)
        let bytes = output.bytes(upTo: Self.maxOutput, until: end)
        guard let bytes else {
            output.kill()
            _ = output.status(until: end)
            throw Self.failure("did not end within \(seconds) s (--code-timeout)")
        }
        guard bytes.count <= Self.maxOutput else {
            output.kill()
            _ = output.status(until: end)
            throw Self.failure("printed more than \(Self.maxOutput) bytes; one line is expected")
        }
        switch output.status(until: end) {
        case nil: throw Self.failure("did not end within \(seconds) s (--code-timeout)")
        case .exited(0)?: return try Self.line(bytes)
        case .exited(let status)?: throw Self.failure("exited with status \(status)")
        case .killed(let number)?: throw Self.failure("was ended by signal \(number)")
        }
    }

    private static func line(_ bytes: [UInt8]) throws(ClientError) -> String {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        guard let line = lines.first else { throw failure("printed nothing; one line with a code or link is expected") }
        guard lines.count == 1 else { throw failure("printed \(lines.count) lines; one is expected") }
        guard let text = String(validating: line, as: UTF8.self) else { throw failure("printed what is not UTF-8") }
        let trimmed = text.trimmingPrefix { $0.isWhitespace }.reversed().drop { $0.isWhitespace }
        guard !trimmed.isEmpty else { throw failure("printed nothing; one line with a code or link is expected") }
        return String(trimmed.reversed())
    }

    private static func failure(_ what: String) -> ClientError {
        .refused(ControlError(.failed, "--code-command \(what)."))
    }
}

/// A shell that runs, in a process group of its own, and what it prints.
private final class ShellOutput: Sendable {
    enum Status { case exited(Int32), killed(Int32) }

    private static let shell = "/bin/sh"

    private let reading: Int32
    private let process: pid_t
    /// Whether the process is waited for: then its number may be another's.
    private let isOver = Mutex(false)

    /// - Throws: `SystemError` if it cannot be started.
    init(_ command: String, variables: [String: String]) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError(operation: "pipe", errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        unsafe posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        // What oobctl ignores, and what its threads have blocked, is nothing to the command.
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(&attributes, Self.flags)
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

    private static let flags = Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)

    /// Ends it and all that it has started, unless they have left its process group.
    func kill() {
        isOver.withLock { if !$0 { _ = Glibc.kill(-process, SIGKILL) } }
    }

    /// What it prints until it closes its standard output; a byte more than `limit` if it prints more.
    ///
    /// Nil if that takes longer than until `end`.
    func bytes(upTo limit: Int, until end: ContinuousClock.Instant) -> [UInt8]? {
        var all: [UInt8] = []
        while all.count <= limit {
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            guard left > 0 else { return nil }
            var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, Int32(left.rounded(.up))) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: limit + 1 - all.count)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(reading, $0.baseAddress, $0.count) }
            if count == 0 { return all }
            if count > 0 { all += buffer.prefix(count) }
        }
        return all
    }

    /// How it ended; nil if it had to be killed because it goes on after `end`.
    func status(until end: ContinuousClock.Instant) -> Status? {
        var (pause, isLate): (UInt32, Bool) = (500, false)
        while true {
            var status: Int32 = 0
            let found = isOver.withLock { isOver in
                let found = unsafe waitpid(process, &status, WNOHANG)
                if found != 0 { isOver = true }
                return found
            }
            if found != 0 {
                guard !isLate else { return nil }
                let number = status & 0x7F
                return number == 0 ? .exited(status >> 8 & 0xFF) : .killed(number)
            }
            if ContinuousClock.now >= end {
                isLate = true
                kill()
            }
            // It has closed its output, so it ends in a moment: there is nothing else to wait for.
            usleep(pause)
            pause = min(2 * pause, 20_000)
        }
    }
}
