import Foundation
import ScratchDirectories
import SpawnedProcesses
import Testing

@testable import LinuxProcess

@Suite struct StateLockTests {
    let scratch: ScratchDirectory
    let path: String

    init() throws {
        scratch = try ScratchDirectory()
        path = scratch.path + "/agent.lock"
    }

    /// Locks the file, writes what it is told as the holder's id, and holds on.
    private static let holder = """
        import fcntl, os, sys
        f = open(sys.argv[1], "w"); fcntl.flock(f, fcntl.LOCK_EX)
        f.write(sys.argv[2].replace("PID", str(os.getpid()))); f.flush()
        print("locked", flush=True); sys.stdin.read()
        """

    @Test func `the lock's file names this process and is private`() throws {
        try StateLock.acquire(directory: scratch.path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "\(getpid())\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a directory that another process holds is refused with its id, and free when it ends`() throws {
        let child = try ChildProcess(python: Self.holder, path, "PID\n")
        try child.waitUntilReady()
        let error = #expect(throws: StateLockError.heldBy(pid: child.pid, path: path)) {
            try StateLock.acquire(directory: scratch.path)
        }
        #expect(error?.description.contains("locked by process \(child.pid);") == true)
        try child.end()
        try StateLock.acquire(directory: scratch.path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "\(getpid())\n")
    }

    @Test(arguments: ["", "\n", "12", "-5\n", "0\n", "word\n", "99999999999999999999\n"])
    func `a holder that cannot be named is still a holder`(text: String) throws {
        let child = try ChildProcess(python: Self.holder, path, text)
        try child.waitUntilReady()
        #expect(throws: StateLockError.heldBy(pid: nil, path: path)) {
            try StateLock.acquire(directory: scratch.path)
        }
        try child.end()
    }

    @Test func `the lock stays without anyone keeping the value, and other processes see it`() throws {
        _ = try StateLock.acquire(directory: scratch.path)
        let child = try ChildProcess(
            python: """
                import fcntl, sys
                try: fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB); sys.exit(1)
                except BlockingIOError: sys.exit(0)
                """, path)
        try child.end()
        #expect(child.status == 0)
        #expect(throws: StateLockError.heldBy(pid: getpid(), path: path)) {
            try StateLock.acquire(directory: scratch.path)
        }
    }

    @Test func `a lock that was released can be had again, and a second release takes it from nobody`() throws {
        let first = try StateLock.acquire(directory: scratch.path)
        first.release()
        try StateLock.acquire(directory: scratch.path)
        first.release()
        #expect(throws: StateLockError.self) { try StateLock.acquire(directory: scratch.path) }
    }

    @Test func `a lock that was released is free, though a process that is just beginning has a copy of it`() throws {
        let lock = try StateLock.acquire(directory: scratch.path)
        let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
        }.compactMap { CInt($0) }.map { dup($0) }
        #expect(copies.count == 1)
        defer { for copy in copies { close(copy) } }
        #expect(throws: StateLockError.self) { try StateLock.acquire(directory: scratch.path) }
        lock.release()
        try StateLock.acquire(directory: scratch.path).release()
    }

    @Test func `a failed acquire leaves the holder's id in the file`() throws {
        try StateLock.acquire(directory: scratch.path)
        let before = try String(contentsOfFile: path, encoding: .utf8)
        #expect(throws: StateLockError.self) { try StateLock.acquire(directory: scratch.path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == before)
    }

    @Test func `a missing directory and a link in the file's place are errors that say the path`() throws {
        let missing = #expect(throws: StateLockError.self) { try StateLock.acquire(directory: scratch.path + "/no") }
        #expect(missing?.description == "open \(scratch.path)/no/agent.lock: No such file or directory")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        let linked = #expect(throws: StateLockError.self) { try StateLock.acquire(directory: scratch.path) }
        #expect(linked == .system(SystemError(operation: "open \(path)", errno: ELOOP)))
    }

    @Test func `a lock file that another user has made is an error that says what to do`() {
        let refused = StateLockError.system(SystemError(operation: "open \(path)", errno: EACCES))
        #expect(
            refused.description
                == "open \(path): Permission denied; check its owner and mode: an agent that another user ran may have "
                + "made it")
    }
}
