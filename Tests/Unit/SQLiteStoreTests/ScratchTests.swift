import Glibc
import TestStores
import Testing

@testable import SQLiteStore

/// Where SQLite puts what it needs for a while.
struct ScratchTests {
    @Test func `nothing of a store is in a temporary file unless a directory was named`() async throws {
        let sample = try SampleStore()
        #expect(try await sample.file.scratchPlaces() == [2, 2])
    }

    @Test func `in a directory that was named it is in a file, whatever the environment said`() async {
        await #expect(processExitsWith: .success) {
            #expect(unsafe setenv("SQLITE_TMPDIR", "/var/tmp", 1) == 0)
            let sample = try SampleStore()
            let store = try SQLiteDatabase(
                path: sample.path, scratch: .files(in: "/state"), dataKeys: UnsealedDataKeys())
            #expect(try await store.scratchPlaces() == [1, 1])
            #expect(unsafe String(cString: getenv("SQLITE_TMPDIR")) == "/state")
        }
    }
}
