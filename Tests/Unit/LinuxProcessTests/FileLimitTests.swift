import Glibc
import Testing

@testable import LinuxProcess

@Suite struct FileLimitTests {
    @Test(arguments: [
        (256, 1_024, 256), (4_096, 1_024, 256), (257, 1_028, 257), (256, 100, 25), (256, 3, 2), (2, 0, 2),
        (4_096, .max, 4_096),
    ])
    func `connections are those that were asked for, or a quarter of the files, and two at least`(
        wanted: Int, files: Int, connections: Int
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

    @Test(arguments: [
        (64, 4, 3, 4), (1_024, 244, 183, 61), (65_536, 4_096, 3_072, 1_024), (Int.max, 4_096, 3_072, 1_024),
    ])
    func `issuers have a share of the files that leaves the others theirs`(
        files: Int, polls: Int, longPolls: Int, calls: Int
    ) {
        #expect(FileLimit.polls(ofFiles: files) == polls)
        #expect(FileLimit.polls(ofFiles: files) / 4 * 3 == longPolls)
        #expect(FileLimit.calls(ofFiles: files) == calls)
        // With connections that are kept, both ports and the program's own files.
        let ports = 2 * FileLimit.connections(4_096, ofFiles: files)
        #expect(polls + polls / 4 + calls + ports <= files)
    }

    @Test func `fewer files than 64 are too few`() {
        #expect(FileLimit.complaint(ofFiles: 64) == nil)
        #expect(FileLimit.complaint(ofFiles: 63)?.hasPrefix("this process may open 63 files and needs 64: ") == true)
    }
}
