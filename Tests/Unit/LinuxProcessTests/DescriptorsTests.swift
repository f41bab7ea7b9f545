import Glibc
import Testing

@testable import LinuxProcess

struct DescriptorsTests {
    @Test func `a process that has no descriptor left says so`() async {
        await #expect(processExitsWith: .success) {
            #expect(Descriptors.areLeft())
            #expect(Descriptors.shortage() == nil)
            #expect(!Descriptors.noteRefusal(ENOENT))
            // Those that are open stay open; no other can be.
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
            #expect(!Descriptors.areLeft())
            #expect(Descriptors.refusals.count == 1)
            #expect(Descriptors.shortage()?.contains("ran out of descriptors (it may open 0 files)") == true)
        }
    }

    @Test func `a refusal is remembered for a while`() async {
        await #expect(processExitsWith: .success) {
            #expect(Descriptors.noteRefusal(EMFILE))
            #expect(Descriptors.noteRefusal(ENFILE))
            #expect(Descriptors.areLeft())
            #expect(Descriptors.refusals.count == 2)
            #expect(Descriptors.shortage() != nil)
        }
    }
}
