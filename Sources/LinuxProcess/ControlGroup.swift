/// The control groups, of version 2 (cgroups(7)), that this process is in: its own and all above.
package enum ControlGroup {
    /// Whether one of them lets no memory be swapped, as `MemorySwapMax=0` of systemd.resource-control(5) does; false
    /// where that cannot be told.
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
