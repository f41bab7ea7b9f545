import CLinux
import FoundationEssentials
import Glibc
package import LinuxProcess

/// The devices and files to which the kernel may swap this process's memory.
package enum Swap {
    /// Paths of the swap areas in use that are, or may be, unencrypted on a disk.
    ///
    /// Devices of dm-crypt, also below others, and zram in memory are safe.
    ///
    /// - Parameters:
    ///   - swaps: the kernel's list of swap areas.
    ///   - sys: the mount point of sysfs.
    package static func inClear(
        swaps: String = "/proc/swaps", sys: String = "/sys"
    ) throws(UnknownFactError) -> [String] {
        let lines: [Substring]
        do throws(UnknownFactError) {
            lines = try KernelFile.text(swaps).split(separator: "\n")
        } catch {
            // A service may have no access to /proc/swaps (ProcSubset=pid of systemd.exec(5)), but it can read the
            // total.
            guard clinux_has_swap() == 0 else { throw error }
            return []
        }
        let areas = lines.dropFirst().map { $0.split { $0 == " " || $0 == "\t" } }
        guard lines.first?.hasPrefix("Filename") == true, areas.allSatisfy({ $0.count == 5 }) else {
            throw UnknownFactError("\(swaps) is not in the known form")
        }
        return areas.map { (path: String($0[0]), isFile: $0[1] == "file") }
            .filter { !isSafe($0.isFile ? deviceOfFile($0.path, sys) : device($0.path, sys), sys) }.map(\.path)
    }

    private static func device(_ path: some StringProtocol, _ sys: String) -> String {
        "\(sys)/class/block/\(path.split(separator: "/").last ?? "")"
    }

    /// The device of the file's file system: MAJOR:MINOR, decoded as by major(3) and minor(3).
    private static func deviceOfFile(_ path: String, _ sys: String) -> String {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return "" }
        let number = status.st_dev
        let (major, minor) = (number >> 8 & 0xFFF | number >> 32 & ~0xFFF, number & 0xFF | number >> 12 & ~0xFF)
        return "\(sys)/dev/block/\(major):\(minor)"
    }

    /// - Parameter layers: the most devices above one another, such as a logical volume on dm-crypt on RAID.
    private static func isSafe(_ device: String, _ sys: String, layers: Int = 8) -> Bool {
        func contents(_ name: String) -> Substring? {
            (try? KernelFile.text("\(device)/\(name)"))?.split(separator: "\n").first
        }
        guard layers > 0 else { return false }
        if device.hasPrefix("\(sys)/class/block/zram") {
            // Without the file, this kernel has no backing devices.
            guard let backing = contents("backing_dev"), backing != "none" else { return true }
            return isSafe(Self.device(backing, sys), sys, layers: layers - 1)
        }
        // The device mapper's own name of the device type: CRYPT-LUKS2-…, LVM-…
        if contents("dm/uuid")?.hasPrefix("CRYPT-") == true { return true }
        let below = (try? FileManager.default.contentsOfDirectory(atPath: device + "/slaves")) ?? []
        return !below.isEmpty && below.allSatisfy { isSafe("\(device)/slaves/\($0)", sys, layers: layers - 1) }
    }
}

/// The control groups, of version 2 (cgroups(7)), that this process is in: its own and all its ancestors.
package enum ControlGroup {
    /// Whether one of the groups is known to forbid swap.
    ///
    /// `MemorySwapMax=0` of systemd.resource-control(5) does that.
    ///
    /// - Parameters:
    ///   - membership: the kernel's file with the group of the process.
    ///   - mount: the mount point of the groups.
    package static func neverSwaps(
        membership: String = "/proc/self/cgroup", mount: String = "/sys/fs/cgroup"
    ) -> Bool {
        guard let lines = try? KernelFile.text(membership).split(separator: "\n"),
            let line = lines.first(where: { $0.hasPrefix("0::/") })
        else { return false }
        let names = line.dropFirst("0::".count).split(separator: "/")
        // A group outside of the cgroup namespace is not below the mount point.
        guard !names.contains("..") else { return false }
        return (0...names.count).contains { depth in
            let group = ([Substring(mount)] + names.prefix(depth)).joined(separator: "/")
            return (try? KernelFile.text(group + "/memory.swap.max")) == "0\n"
        }
    }
}
