import Glibc

/// Small files in which the kernel says how things are.
enum KernelFile {
    /// The most bytes that are read; what is longer cannot be told.
    static let maxBytes = 65_536

    static func text(_ path: String) throws(CannotTell) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .afterCall("open \(path)") }
        defer { close(file) }
        var (all, piece) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while all.count <= maxBytes {
            let count = unsafe read(file, &piece, piece.count)
            if count == 0 { return String(decoding: all, as: UTF8.self) }
            guard count > 0 || errno == EINTR else { throw .afterCall("read \(path)") }
            all += piece.prefix(max(count, 0))
        }
        throw CannotTell("\(path) has more than \(maxBytes) bytes")
    }
}
