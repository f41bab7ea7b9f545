import Foundation
import Testing

@testable import LinuxProcess

/// How much room there is on a disk, as doctor and metrics say it.
struct DiskRoomTests {
    @Test(
        arguments: [
            (free: 1 << 30, total: 1 << 40, isLow: false), (free: (1 << 30) - 1, total: 1 << 40, isLow: true),
            (free: 100, total: 1_000, isLow: false), (free: 99, total: 1_000, isLow: true),
            (free: 0, total: 0, isLow: false),
        ] as [(free: Int64, total: Int64, isLow: Bool)])
    func `a disk is low with less than a tenth and less than 1 GiB`(free: Int64, total: Int64, isLow: Bool) {
        #expect(DiskRoom(free: free, total: total).isLow == isLow)
    }

    @Test func `the system says how much there is, and not of what is not there`() throws {
        let room = try DiskRoom(of: "/")
        let told = try FileManager.default.attributesOfFileSystem(forPath: "/")
        #expect((told[.systemSize] as? NSNumber)?.int64Value == room.total)
        #expect(room.free >= 0 && room.free < room.total)
        #expect(throws: UnknownFactError.self) { try DiskRoom(of: "/no/such/directory") }
    }
}
