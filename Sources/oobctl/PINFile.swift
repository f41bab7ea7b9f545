import Control
import Glibc

/// The file of `--pin-file`: read here, since the agent may not see this user's files.
///
/// What a PIN may be the agent alone knows; this sees that there is one line of text.
enum PINFile {
    /// Of it only the PIN is in a line, and one line feed, or carriage return and line feed, may end it.
    ///
    /// - Parameter path: `-` stands for standard input.
    static func read(_ path: String, option: String) throws(ClientFailure) -> PINText {
        var octets = try contents(path, option)
        defer { wipe(&octets) }
        if octets.last == UInt8(ascii: "\n") { octets.removeLast() }
        if octets.last == UInt8(ascii: "\r") { octets.removeLast() }
        guard !octets.isEmpty else { throw error(path, option, "is empty.") }
        guard !octets.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
            throw error(path, option, "has more than one line.")
        }
        guard octets.count <= PINText.octets.upperBound else { throw error(path, option, "is too long for a PIN.") }
        guard let text = String(validating: octets, as: UTF8.self) else { throw error(path, option, "is not UTF-8.") }
        return PINText(text)
    }

    /// At most some octets more than are allowed.
    private static func contents(_ path: String, _ option: String) throws(ClientFailure) -> [UInt8] {
        let number = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else {
            throw error(path, option, "cannot be read: \(unsafe String(cString: strerror(errno)))")
        }
        defer { close(number) }
        let capacity = PINText.octets.upperBound + 3
        var buffer = [UInt8](repeating: 0, count: capacity)
        defer { wipe(&buffer) }
        var count = 0
        while count < capacity {
            let read = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(number, bytes.baseAddress?.advanced(by: count), capacity - count)
            }
            if read < 0 && errno == EINTR { continue }
            guard read >= 0 else {
                throw error(path, option, "cannot be read: \(unsafe String(cString: strerror(errno)))")
            }
            if read == 0 { break }
            count += read
        }
        return Array(buffer.prefix(count))
    }

    static func wipe(_ octets: inout [UInt8]) {
        unsafe octets.withUnsafeMutableBytes { octets in
            guard let start = octets.baseAddress else { return }
            unsafe explicit_bzero(start, octets.count)
        }
    }

    private static func error(_ path: String, _ option: String, _ problem: String) -> ClientFailure {
        .refused(ControlError(.invalidArgument, "\(option): \(path == "-" ? "standard input" : path) \(problem)"))
    }
}
