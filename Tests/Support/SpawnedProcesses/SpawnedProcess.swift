package import Foundation
import Glibc

/// A process that a test starts, with its three streams.
///
/// Foundation's `Process` reads beyond the end of its list of descriptors where a test process has many open, and
/// crashes it now and then; posix_spawn(3) looks at none.
package final class SpawnedProcess: Sendable {
    package struct NotStarted: Error, CustomStringConvertible {
        package let description: String
    }

    package let pid: pid_t
    package let input: FileHandle
    package let output: FileHandle
    package let errors: FileHandle

    /// Starts the first word, looked up in PATH, with this process's environment.
    package init(_ words: [String]) throws {
        let (toChild, fromChild, messages) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
        defer { [toChild.read, fromChild.write, messages.write].forEach { close($0) } }
        input = FileHandle(fileDescriptor: toChild.write, closeOnDealloc: true)
        output = FileHandle(fileDescriptor: fromChild.read, closeOnDealloc: true)
        errors = FileHandle(fileDescriptor: messages.read, closeOnDealloc: true)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, toChild.read, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, fromChild.write, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, messages.write, STDERR_FILENO)
        pid = try unsafe Self.spawn(words, &actions)
    }

    /// Waits until it has ended, and returns its exit status, or 128 and the signal's number.
    package func waitUntilExit() -> Int32 {
        var word: Int32 = 0
        while unsafe waitpid(pid, &word, 0) != pid, errno == EINTR {}
        return Self.status(word)
    }

    /// The same without holding the thread.
    package func exitStatus() async throws -> Int32 {
        var word: Int32 = 0
        while unsafe waitpid(pid, &word, WNOHANG) != pid { try await Task.sleep(for: .milliseconds(2)) }
        return Self.status(word)
    }

    /// wait(2): the low seven bits are the signal, the next byte is the exit status.
    private static func status(_ word: Int32) -> Int32 {
        word & 0x7F == 0 ? word >> 8 & 0xFF : 128 + word & 0x7F
    }

    /// Closed in children, but for what they are given as a stream.
    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw NotStarted(description: "pipe: errno \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ words: [String], _ actions: inout posix_spawn_file_actions_t
    ) throws -> pid_t {
        // execve(2): pointers that end with a null pointer.
        let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let failure = unsafe posix_spawnp(&pid, words[0], &actions, nil, arguments, environ)
        guard failure == 0 else { throw NotStarted(description: "\(words[0]): errno \(failure)") }
        return pid
    }
}
