import Foundation
import ScratchDirectories
import SpawnedProcesses
import Testing

@testable import LinuxProcess

/// Against a copy of what /proc and /sys look like: no test can give its machine such devices.
@Suite struct SwapAreaTests {
    let scratch: ScratchDirectory
    let sys: String

    init() throws {
        scratch = try ScratchDirectory()
        sys = scratch.path + "/sys"
    }

    private static let heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

    private func areas(_ lines: String...) throws -> [SwapArea] {
        let text = Self.heading + lines.map { $0 + "\t\t0\t\t-2\n" }.joined()
        try text.write(toFile: scratch.path + "/swaps", atomically: false, encoding: .utf8)
        return try SwapArea.all(swaps: scratch.path + "/swaps", sys: sys)
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

    @Test func `no swap is no area`() throws {
        #expect(try areas() == [])
    }

    @Test func `a partition is plain, one that is not known to sysfs cannot be told`() throws {
        try device("sda2")
        let found = try areas("/dev/sda2   partition\t1", "/dev/gone  partition\t1")
        #expect(found == [SwapArea(path: "/dev/sda2", medium: .plain), SwapArea(path: "/dev/gone", medium: .unknown)])
    }

    @Test func `dm-crypt is encrypted, also below a logical volume`() throws {
        try device("sda3")
        try device("dm-0", ["dm/uuid": "CRYPT-LUKS2-0123-swap\n"], on: ["sda3"])
        try device("dm-1", ["dm/uuid": "LVM-abc\n"], on: ["dm-0"])
        let found = try areas("/dev/dm-0  partition\t1", "/dev/dm-1  partition\t1")
        #expect(found.map(\.medium) == [.encrypted, .encrypted])
    }

    @Test func `a volume over several devices is as weak as the weakest`() throws {
        try device("sda3")
        try device("dm-0", ["dm/uuid": "CRYPT-PLAIN-swap\n"])
        try device("dm-2", ["dm/uuid": "LVM-abc\n"], on: ["dm-0", "sda3"])
        #expect(try areas("/dev/dm-2  partition\t1").map(\.medium) == [.plain])
    }

    @Test func `zram is memory, unless it writes to a device behind it`() throws {
        try device("sda4")
        try device("zram0")
        try device("zram1", ["backing_dev": "none\n"])
        try device("zram2", ["backing_dev": "/dev/sda4\n"])
        let found = try areas("/dev/zram0  partition\t1", "/dev/zram1  partition\t1", "/dev/zram2  partition\t1")
        #expect(found.map(\.medium) == [.memory, .memory, .plain])
    }

    @Test func `a file is as its file system's device is, and its name may have blanks`() throws {
        let file = scratch.path + "/my swap"
        try Data().write(to: URL(filePath: file))
        let line = file.replacing(" ", with: "\\040") + "  file\t1"
        #expect(try areas(line) == [SwapArea(path: file, medium: .unknown)])
        try device("dm-3", ["dm/uuid": "CRYPT-LUKS2-root\n"])
        try link("\(sys)/dev/block/\(try number(of: file))", to: "\(sys)/devices/dm-3")
        #expect(try areas(line) == [SwapArea(path: file, medium: .encrypted)])
    }

    /// MAJOR:MINOR of the device that a file is on, as coreutils print it.
    private func number(of file: String) throws -> String {
        let stat = try SpawnedProcess(["stat", "--format=%Hd:%Ld", file])
        let said = try stat.output.readToEnd() ?? Data()
        #expect(stat.waitUntilExit() == 0)
        return String(decoding: said, as: UTF8.self).filter { $0 != "\n" }
    }

    @Test func `devices that lie above one another without an end cannot be told`() throws {
        try device("md0")
        try link("\(sys)/devices/md0/slaves/md0", to: "\(sys)/devices/md0")
        #expect(try areas("/dev/md0  partition\t1").map(\.medium) == [.unknown])
    }

    @Test func `a list in another form cannot be told`() throws {
        #expect(throws: UnknownFactError.self) { try areas("/dev/sda2 partition") }
        try "what is this\n".write(toFile: scratch.path + "/other", atomically: false, encoding: .utf8)
        #expect(throws: UnknownFactError.self) { try SwapArea.all(swaps: scratch.path + "/other", sys: sys) }
    }
}
