import FoundationEssentials
import Glibc

/// A block device as sysfs shows it.
struct BlockDevice {
    /// How many devices may lie above one another, such as a logical volume on dm-crypt on RAID.
    private static let maxLayers = 8

    private let directory: String
    private let sys: String

    /// The device of a path below /dev; nil if sysfs has none of its name.
    init?(at path: String, sys: String) {
        guard let name = path.split(separator: "/").last else { return nil }
        self.init(link: "\(sys)/class/block/\(name)", sys: sys)
    }

    /// The device that a file's file system is on; nil if that is not one device.
    init?(holding path: String, sys: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(link: "\(sys)/dev/block/\(Self.number(status.st_dev))", sys: sys)
    }

    /// MAJOR:MINOR, as makedev(3) puts the two together.
    private static func number(_ device: dev_t) -> String {
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let minor = device & 0xFF | device >> 12 & ~0xFF
        return "\(major):\(minor)"
    }

    private init?(link: String, sys: String) {
        guard let resolved = unsafe realpath(link, nil) else { return nil }
        defer { unsafe free(resolved) }
        directory = unsafe String(cString: resolved)
        self.sys = sys
    }

    var medium: SwapArea.Medium { medium(layers: Self.maxLayers) }

    private func medium(layers: Int) -> SwapArea.Medium {
        guard layers > 0 else { return .unknown }
        if name.hasPrefix("zram") { return zramMedium(layers) }
        // The device mapper's own name for what made a device: CRYPT-LUKS2-…, LVM-…
        if contents("dm/uuid")?.hasPrefix("CRYPT-") == true { return .encrypted }
        let below = lowerDevices.map { $0?.medium(layers: layers - 1) ?? .unknown }
        if below.isEmpty { return .plain }
        // As weak as the weakest device below.
        return below.contains(.plain) ? .plain : below.contains(.unknown) ? .unknown : .encrypted
    }

    private func zramMedium(_ layers: Int) -> SwapArea.Medium {
        // Without the file this kernel has no such thing as a backing device.
        guard let backing = contents("backing_dev"), backing != "none" else { return .memory }
        return BlockDevice(at: String(backing), sys: sys)?.medium(layers: layers - 1) ?? .unknown
    }

    private var name: Substring { directory.split(separator: "/").last ?? "" }

    private var lowerDevices: [BlockDevice?] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory + "/slaves")) ?? []
        return names.map { BlockDevice(link: "\(directory)/slaves/\($0)", sys: sys) }
    }

    private func contents(_ name: String) -> Substring? {
        (try? KernelFile.text("\(directory)/\(name)"))?.split(separator: "\n").first
    }
}
