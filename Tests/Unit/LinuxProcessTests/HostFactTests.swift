import Foundation
import Glibc
import ScratchDirectories
import SpawnedProcesses
import Testing

@testable import LinuxProcess

@Suite struct HostFactTests {
    /// PTRACE_TRACEME (0) of ptrace(2): the test becomes its tracer.
    private static let traced = """
        import ctypes, sys
        sys.exit(9) if ctypes.CDLL(None).ptrace(0, 0, 0, 0) else print("traced", flush=True); sys.stdin.read()
        """

    @Test func `a traced process is told from one that is not`() throws {
        let child = try ChildProcess(python: Self.traced)
        try child.waitUntilReady()
        #expect(try ProcessExposure.tracer(status: "/proc/\(child.pid)/status") != nil)
        try child.end()
        let other = try ChildProcess(python: "import sys; print('ready', flush=True); sys.stdin.read()")
        try other.waitUntilReady()
        #expect(try ProcessExposure.tracer(status: "/proc/\(other.pid)/status") == nil)
        try other.end()
    }

    @Test(arguments: ["", "TracerPid:\n", "TracerPid:\tx\n", "Tracer:\t1\n"])
    func `a status without a tracer's line tells nothing`(text: String) throws {
        let scratch = try ScratchDirectory()
        try text.write(toFile: scratch.path + "/status", atomically: false, encoding: .utf8)
        #expect(throws: UnknownFactError.self) { try ProcessExposure.tracer(status: scratch.path + "/status") }
    }

    @Test func `what cannot be read is said with the path and the reason`() {
        let error = #expect(throws: UnknownFactError.self) { try ProcessExposure.tracer(status: "/none/status") }
        #expect(error?.description == "open /none/status: No such file or directory")
    }

    @Test func `what is longer than anything that the kernel says is not read`() throws {
        #expect(throws: UnknownFactError("/dev/zero has more than 65536 bytes")) { try KernelFile.text("/dev/zero") }
        let scratch = try ScratchDirectory()
        for count in [KernelFile.maxBytes, KernelFile.maxBytes + 1] {
            let path = "\(scratch.path)/\(count)"
            try Data(repeating: 0x61, count: count).write(to: URL(filePath: path))
            #expect((try? KernelFile.text(path))?.utf8.count == (count > KernelFile.maxBytes ? nil : count))
        }
    }

    @Test func `a process is dumpable until it is hardened`() async {
        await #expect(processExitsWith: .success) {
            #expect(try ProcessExposure.isDumpable())
            try ProcessHardening.apply()
            #expect(try !ProcessExposure.isDumpable())
        }
    }

    @Test func `the kernel's word about its clock is that of adjtimex`() throws {
        let child = try ChildProcess(
            python: """
                import ctypes, sys
                buffer = (ctypes.c_long * 64)()  # struct timex, of which "status" is the sixth word
                ctypes.CDLL(None).adjtimex(buffer)
                sys.stdin.read(); sys.exit(1 if buffer[5] & 0x40 else 0)
                """)
        try child.end()
        #expect(try KernelClock.isSynchronised() == (child.status == 0))
    }

    @Test func `a directory is open if its mode lets others in, with what is open in it`() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path
        for (name, mode) in [("a", 0o600), ("b", 0o644), ("c", 0o640)] {
            try Data().write(to: URL(filePath: "\(path)/\(name)"))
            #expect(unsafe chmod("\(path)/\(name)", mode_t(mode)) == 0)
        }
        #expect(unsafe chmod(path, 0o700) == 0)
        #expect(try OpenFile.inDirectory(path) == [])
        #expect(unsafe chmod(path, 0o750) == 0)
        let said = try OpenFile.inDirectory(path).map(\.description)
        #expect(said == ["\(path) (0750)", "\(path)/b (0644)", "\(path)/c (0640)"])
        // systemd makes such links for services with a user of their own.
        let link = path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try OpenFile.at(link)?.mode == 0o750)
        #expect(unsafe chmod(path, 0o700) == 0)
        #expect(try OpenFile.inDirectory(link) == [])
        #expect(throws: UnknownFactError("stat \(path)/none: No such file or directory")) {
            try OpenFile.inDirectory(path + "/none")
        }
    }
}
