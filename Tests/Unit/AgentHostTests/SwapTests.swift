import Foundation
import LinuxProcess
import ScratchDirectories
import SpawnedProcesses
import Testing

@testable import AgentHost

/// Against a copy of what /proc and /sys look like: no test can give its machine such devices.
@Suite struct SwapTests {
    let scratch: ScratchDirectory
    let sys: String

    init() throws {
        scratch = try ScratchDirectory()
        sys = scratch.path + "/sys"
    }

    private static let heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

    private func inClear(_ lines: String...) throws -> [String] { try inClear(lines) }

    private func inClear(_ lines: [String]) throws -> [String] {
        let text = Self.heading + lines.map { $0 + "\t\t0\t\t-2\n" }.joined()
        try text.write(toFile: scratch.path + "/swaps", atomically: false, encoding: .utf8)
        return try Swap.inClear(swaps: scratch.path + "/swaps", sys: sys)
    }

    /// A device, with what its files say and the devices below it.
    private func device(_ name: String, _ files: [String: String] = [:], on lower: [String] = []) throws {
        let directory = "\(sys)/devices/\(name)"
        try FileManager.default.createDirectory(atPath: directory + "/dm", withIntermediateDirectories: true)
        for (file, text) in files {
            try text.write(toFile: "\(directory)/\(file)", atomically: false, encoding: .utf8)
        }
        try link("\(sys)/class/block/\(name)", to: directory)
        for each in lower { try link("\(directory)/slaves/\(each)", to: "\(sys)/devices/\(each)") }
    }

    private func link(_ path: String, to target: String) throws {
        let folder = URL(filePath: path).deletingLastPathComponent().path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    @Test func `no swap is none in clear`() throws {
        #expect(try inClear() == [])
    }

    @Test func `a partition is in clear, and one that is not known to sysfs may be`() throws {
        try device("sda2")
        #expect(try inClear("/dev/sda2   partition\t1", "/dev/gone  partition\t1") == ["/dev/sda2", "/dev/gone"])
    }

    @Test func `dm-crypt is encrypted, also below a logical volume`() throws {
        try device("sda3")
        try device("dm-0", ["dm/uuid": "CRYPT-LUKS2-0123-swap\n"], on: ["sda3"])
        try device("dm-1", ["dm/uuid": "LVM-abc\n"], on: ["dm-0"])
        try device("dm-2", ["dm/uuid": "LVM-abc\n"], on: ["sda3"])
        let found = try inClear(
            "/dev/dm-0  partition\t1", "/dev/dm-1  partition\t1", "/dev/dm-2  partition\t1")
        #expect(found == ["/dev/dm-2"])
    }

    @Test func `a volume over several devices is as weak as the weakest`() throws {
        try device("sda3")
        try device("dm-0", ["dm/uuid": "CRYPT-PLAIN-swap\n"])
        try device("dm-2", ["dm/uuid": "LVM-abc\n"], on: ["dm-0", "sda3"])
        #expect(try inClear("/dev/dm-2  partition\t1") == ["/dev/dm-2"])
    }

    @Test func `zram is memory, unless it writes to a device behind it`() throws {
        try device("sda4")
        try device("dm-0", ["dm/uuid": "CRYPT-PLAIN-swap\n"])
        try device("zram0")
        try device("zram1", ["backing_dev": "none\n"])
        try device("zram2", ["backing_dev": "/dev/sda4\n"])
        try device("zram3", ["backing_dev": "/dev/dm-0\n"])
        #expect(try inClear((0...3).map { "/dev/zram\($0)  partition\t1" }) == ["/dev/zram2"])
    }

    @Test func `a file is as its file system's device is`() throws {
        let file = scratch.path + "/swap"
        try Data().write(to: URL(filePath: file))
        #expect(try inClear(file + "  file\t1", "/gone  file\t1") == [file, "/gone"])
        try device("dm-3", ["dm/uuid": "CRYPT-LUKS2-root\n"])
        try link("\(sys)/dev/block/\(try number(of: file))", to: "\(sys)/devices/dm-3")
        #expect(try inClear(file + "  file\t1", "/gone  file\t1") == ["/gone"])
    }

    /// MAJOR:MINOR of the device that a file is on, as coreutils print it.
    private func number(of file: String) throws -> String {
        let stat = try SpawnedProcess(["stat", "--format=%Hd:%Ld", file])
        let said = try stat.output.readToEnd() ?? Data()
        #expect(stat.waitUntilExit() == 0)
        return String(decoding: said, as: UTF8.self).filter { $0 != "\n" }
    }

    @Test func `devices that lie above one another without an end may be in clear`() throws {
        try device("md0")
        try link("\(sys)/devices/md0/slaves/md0", to: "\(sys)/devices/md0")
        #expect(try inClear("/dev/md0  partition\t1") == ["/dev/md0"])
    }

    @Test func `a list in another form cannot be told`() throws {
        #expect(throws: UnknownFactError.self) { try inClear("/dev/sda2 partition") }
        try "what is this\n".write(toFile: scratch.path + "/other", atomically: false, encoding: .utf8)
        #expect(throws: UnknownFactError.self) { try Swap.inClear(swaps: scratch.path + "/other", sys: sys) }
    }
}
