import Glibc
import Testing

@testable import LinuxProcess

@Suite struct FileLimitTests {
    @Test(arguments: [
        (256, 1_024, 256), (4_096, 1_024, 256), (257, 1_028, 257), (256, 100, 25), (256, 3, 2), (2, 0, 2),
        (4_096, rlim_t.max, 4_096),
    ])
    func `connections are those that were asked for, or a quarter of the files, and two at least`(
        wanted: Int, files: rlim_t, connections: Int
    ) {
        #expect(FileLimit.connections(wanted, ofFiles: files) == connections)
    }

    @Test func `it is this process's limit`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            limit.rlim_cur = 80
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            #expect(FileLimit.connections(256) == 20)
        }
    }
}
