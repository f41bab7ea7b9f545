import Glibc
import Records
import StoreTables
import TestStores
import Testing

@testable import SQLiteStore

/// The file that keeps room on the disk.
@Suite(.ofSQLite)
struct DiskReserveTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    /// The bytes that the file has on the disk, and its mode; nil if it is not there.
    private var file: (bytes: Int64, mode: mode_t)? {
        var status = stat()
        guard unsafe lstat(sample.path + "-reserve", &status) == 0 else { return nil }
        return (Int64(status.st_blocks) * 512, status.st_mode & 0o777)
    }

    @Test func `the reserve takes its room on the disk until it is given up`() async throws {
        try #require(file == nil)
        try await sample.store.keepReserve()
        let made = try #require(file)
        #expect(made.bytes >= 1 << 20)
        #expect(made.bytes <= 17 << 20)
        #expect(made.mode == 0o600)
        try await sample.store.keepReserve()
        #expect(file?.bytes == made.bytes)
        #expect(await sample.store.giveUpReserve())
        #expect(file == nil)
        // For a write that failed at the same time as the one that gave it up.
        #expect(await sample.store.giveUpReserve())
    }

    @Test func `a reserve that was cut off while it was made is made whole`() async throws {
        let begun = unsafe open(sample.path + "-reserve", O_WRONLY | O_CREAT, 0o600)
        #expect(ftruncate(begun, 16 << 20) == 0)
        close(begun)
        try await sample.store.keepReserve()
        #expect(try #require(file).bytes >= 1 << 20)
    }

    @Test(arguments: [(Int64(0), Int64(0)), (2 << 20, 128 << 10), (1 << 28, 16 << 20), (.max, 16 << 20)])
    func `the reserve is a sixteenth of a small disk and 16 MiB of a large one`(total: Int64, size: Int64) {
        #expect(DiskReserve.size(onDiskOf: total) == size)
    }
}
