import Foundation
import Glibc
import Synchronization

/// A process that a test started: its output goes to files, and it is ended by its own process id.
final class Child: Sendable {
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    let name: String
    let pid: pid_t
    private let outputPath: String
    private let errorPath: String
    /// As a shell has it: the exit status, or 128 and the signal's number.
    private let ended = Mutex<Int32?>(nil)

    /// Starts a program with nothing on standard input.
    ///
    /// - Parameter files: the path of the output files, to which `.out` and `.err` are added; both are appended to.
    init(_ program: String, _ arguments: [String], environment: [String: String], files: String) throws {
        name = URL(filePath: program).lastPathComponent
        outputPath = files + ".out"
        errorPath = files + ".err"
        pid = try Self.spawn([program] + arguments, environment.map { "\($0)=\($1)" }, outputPath, errorPath)
    }

    private static func spawn(
        _ words: [String], _ variables: [String], _ outputPath: String, _ errorPath: String
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let append = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, outputPath, append, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errorPath, append, 0o600)
        var attributes = Self.attributesOfAFreshProcess()
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // execve(2): pointers that end with a null pointer.
        let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        let environment = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let failure = unsafe posix_spawn(&pid, words[0], &actions, &attributes, arguments, environment)
        guard failure == 0 else {
            throw NotStarted(description: "\(words[0]): \(unsafe String(cString: strerror(failure)))")
        }
        return pid
    }

    /// No signal blocked or ignored: a child inherits both, and the threads that tests run on block SIGTERM.
    private static func attributesOfAFreshProcess() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        return attributes
    }

    /// Nil while the process lives.
    var status: Int32? {
        ended.withLock { ended in
            guard ended == nil else { return ended }
            var word: Int32 = 0
            guard unsafe waitpid(pid, &word, WNOHANG) == pid else { return nil }
            // wait(2): the low seven bits are the signal, the next byte is the exit status.
            ended = word & 0x7F == 0 ? word >> 8 & 0xFF : 128 + word & 0x7F
            return ended
        }
    }

    var output: String { text(of: outputPath) }
    var errors: String { text(of: errorPath) }

    /// The exit status; a process that takes longer is killed, and that is an error.
    func exitStatus(within bound: Duration = Patience.usual) async throws -> Int32 {
        do {
            return try await Patience.until("the end of \(name)", within: bound) { status }
        } catch {
            await kill()
            throw error
        }
    }

    /// The same of a process that ends others when it is asked to end: it is asked first, and given that time for it.
    func exitStatus(within bound: Duration, cleaningUpFor rest: Duration) async throws -> Int32 {
        if let status = try? await Patience.until("the end of \(name)", within: bound, { status }) { return status }
        signal(SIGTERM)
        return try await exitStatus(within: rest)
    }

    func signal(_ number: Int32) {
        ended.withLock { ended in
            // Once it was waited for, its id may be another process's.
            if ended == nil { _ = Glibc.kill(pid, number) }
        }
    }

    /// Ends it as a power cut would; returns when it is gone.
    func kill() async {
        signal(SIGKILL)
        _ = try? await Patience.until("the end of \(name)") { status }
    }

    private func text(of path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}
