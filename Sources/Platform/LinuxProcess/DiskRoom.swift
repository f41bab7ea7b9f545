import Glibc

/// The space on the file system of a path, in bytes.
package struct DiskRoom: Sendable, Equatable {
    /// The space that a process of a user other than root may use.
    package let free: Int64
    package let total: Int64

    package init(free: Int64, total: Int64) {
        self.free = free
        self.total = total
    }

    /// Reads the space with statvfs(3).
    package init(of path: String) throws(UnknownFactError) {
        var answer = statvfs()
        guard unsafe statvfs(path, &answer) == 0 else { throw .afterCall("statvfs \(path)") }
        free = Self.bytes(answer.f_bavail, answer.f_frsize)
        total = Self.bytes(answer.f_blocks, answer.f_frsize)
    }

    private static func bytes(_ blocks: UInt, _ size: UInt) -> Int64 {
        let (bytes, isTooMany) = blocks.multipliedReportingOverflow(by: size)
        return isTooMany ? .max : Int64(clamping: bytes)
    }

    /// Whether little space is free: less than 1 GiB, and less than a tenth.
    package var isLow: Bool { free < min(Self.enough, total / 10) }

    private static let enough: Int64 = 1 << 30
}
