import Dispatch
import Records
import SQLiteStore
import StoreTables
import TestStores
import Testing

/// The store lets go of what it keeps in memory of the file.
@Suite(.ofSQLite, .timeLimit(.minutes(20))) struct ReleasedMemoryTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    @Test func `whoever reads and writes meanwhile is not disturbed`() async throws {
        let (file, store) = (try sample.file, sample.store)
        var ids: [EnrollmentID] = []
        for digit in ["1", "2", "3", "4"] { ids.append(try await sample.enrollment(digit).id) }
        try await withThrowingTaskGroup { group in
            for id in ids {
                group.addTask {
                    // The first one is 3.
                    for signCount in 4...53 as ClosedRange<UInt32> {
                        let taken = try await store.write { try $0.change(id, .signCountTaken(signCount)) }
                        #expect(taken?.signCount == signCount)
                        #expect(try await store.read { try $0.enrollment(id) }?.signCount == signCount)
                    }
                }
            }
            group.addTask {
                for _ in 1...50 {
                    file.releaseMemory()
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
        for id in ids { #expect(try await store.read { try $0.enrollment(id) }?.signCount == 53) }
    }

    @Test func `no read waits for one that takes long because memory is released meanwhile`() async throws {
        let (file, store) = (try sample.file, sample.store)
        let (begun, hasBegun) = AsyncStream.makeStream(of: Never.self)
        let mayEnd = DispatchSemaphore(value: 0)
        async let long: Void = store.read { _ in
            hasBegun.finish()
            // A read that waited for this one would never let it end.
            mayEnd.wait()
        }
        for await _ in begun {}
        file.releaseMemory()
        _ = try await store.read { try $0.enrollmentCount() }
        mayEnd.signal()
        try await long
    }

    @Test func `no connection keeps more than 512 KiB of the file, also after a release`() async throws {
        let file = try sample.file
        #expect(try await file.cacheSizes() == [-512, -512])
        file.releaseMemory()
        #expect(try await file.cacheSizes() == [-512, -512])
    }
}
