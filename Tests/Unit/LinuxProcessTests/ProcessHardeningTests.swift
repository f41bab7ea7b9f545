import Glibc
import Testing

@testable import LinuxProcess

@Suite struct ProcessHardeningTests {
    // In a process of its own: what is set cannot be undone.
    @Test func `a hardened process makes private files and leaves no core`() async {
        await #expect(processExitsWith: .success) {
            umask(0o022)
            #expect(dumpable() == 1)
            try ProcessHardening.apply()
            #expect(umask(0) == 0o077)
            #expect(dumpable() == 0)
            var limit = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
            #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
        }
    }

    @Test func `no file that is opened later takes the place of a standard stream that was closed`() async {
        await #expect(processExitsWith: .success) {
            for stream in STDIN_FILENO...STDERR_FILENO { close(stream) }
            try ProcessHardening.apply()
            let later = unsafe open("/proc/self/status", O_RDONLY)
            #expect(later > STDERR_FILENO)
            for stream in STDIN_FILENO...STDERR_FILENO { #expect(fcntl(stream, F_GETFD) >= 0) }
        }
    }

    @Test func `an error says the call and the kernel's reason`() {
        let error = SystemError(operation: "open /x", errno: EACCES)
        #expect(error.description == "open /x: Permission denied")
    }
}

/// PR_GET_DUMPABLE (3) by the library's symbol: Swift does not import functions with variable arguments.
private func dumpable() -> CInt {
    typealias Function = @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
    guard let symbol = unsafe dlsym(nil, "prctl") else { return -1 }
    return unsafe unsafeBitCast(symbol, to: Function.self)(3, 0, 0, 0, 0)
}
