import CLinux

/// A device or file to which the kernel may write this process's memory.
package struct SwapArea: Equatable, Sendable {
    /// Where the memory ends up that is swapped out.
    package enum Medium: Sendable {
        /// In memory again, compressed (zram without a backing device).
        case memory
        /// On a device of dm-crypt's.
        case encrypted
        case plain
        case unknown
    }

    package let path: String
    package let medium: Medium

    /// All that are in use.
    ///
    /// - Parameters:
    ///   - swaps: the kernel's list of them.
    ///   - sys: where sysfs is mounted.
    package static func all(
        swaps: String = "/proc/swaps", sys: String = "/sys"
    ) throws(UnknownFactError) -> [SwapArea] {
        let lines: [Substring]
        do throws(UnknownFactError) {
            lines = try KernelFile.text(swaps).split(separator: "\n")
        } catch {
            // A service may be kept from /proc/swaps (ProcSubset=pid of systemd.exec(5)), but not from the sum.
            guard clinux_has_swap() == 0 else { throw error }
            return []
        }
        guard lines.first?.hasPrefix("Filename") == true else {
            throw UnknownFactError("\(swaps) is not in the known form")
        }
        return try lines.dropFirst().map { line throws(UnknownFactError) in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count == 5 else { throw UnknownFactError("\(swaps) is not in the known form") }
            return area(path(words[0]), isFile: words[1] == "file", sys)
        }
    }

    private static func area(_ path: String, isFile: Bool, _ sys: String) -> SwapArea {
        let device = isFile ? BlockDevice(holding: path, sys: sys) : BlockDevice(at: path, sys: sys)
        return SwapArea(path: path, medium: device?.medium ?? .unknown)
    }

    /// Blanks and backslashes are written as three octal digits: "\040".
    private static func path(_ word: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(3), as: UTF8.self)
            guard byte == UInt8(ascii: "\\"), digits.utf8.count == 3, let escaped = UInt8(digits, radix: 8) else {
                bytes.append(byte)
                continue
            }
            bytes.append(escaped)
            rest = rest.dropFirst(3)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The control groups, of version 2 (cgroups(7)), that this process is in: its own and all above.
package enum ControlGroup {
    /// Whether one of them lets no memory be swapped; false if that is unknown.
    ///
    /// `MemorySwapMax=0` of systemd.resource-control(5) does that.
    ///
    /// - Parameters:
    ///   - membership: the kernel's word on which group the process is in.
    ///   - mount: where the groups are mounted.
    package static func neverSwaps(
        membership: String = "/proc/self/cgroup", mount: String = "/sys/fs/cgroup"
    ) -> Bool {
        guard let lines = try? KernelFile.text(membership).split(separator: "\n"),
            let line = lines.first(where: { $0.hasPrefix("0::/") })
        else { return false }
        let names = line.dropFirst("0::".count).split(separator: "/")
        // A group outside of the namespace is not below the mount.
        guard !names.contains("..") else { return false }
        return (0...names.count).contains { depth in
            let group = ([Substring(mount)] + names.prefix(depth)).joined(separator: "/")
            return (try? KernelFile.text(group + "/memory.swap.max")) == "0\n"
        }
    }
}
