import Control
import Glibc

/// A file that holds one secret in one line, a PIN or an enrollment code, or codes in a line each.
///
/// It is read here, since the agent may not see this user's files. What a PIN or a code may be the agent knows; this
/// sees that there are lines of text, and that nobody else could read them.
struct SecretLine {
    /// Such as `--pin-file`.
    let option: String
    /// Such as `a PIN`.
    let kind: String
    let maxBytes: Int

    private static let privateMode = mode_t(0o077)
    /// The bytes of a list of codes: 100,000 codes of 160 bytes.
    private static let maxListBytes = 16_777_216

    /// No PIN has a byte order mark: with one no try is spent.
    static func pin(_ path: String, option: String) throws(ClientError) -> PINText {
        let line = SecretLine(option: option, kind: "a PIN", maxBytes: PINText.bytes.upperBound)
        let text = try line.text(path)
        guard text.unicodeScalars.first != "\u{FEFF}" else {
            throw line.error(path, "begins with a byte order mark: save it as UTF-8 without one.")
        }
        return PINText(text)
    }

    static func code(_ path: String, option: String) throws(ClientError) -> String {
        let line = SecretLine(option: option, kind: "a code", maxBytes: EnrollCommand.codeBytes.upperBound)
        return try line.text(path, trimmed: true)
    }

    /// The codes of the first `count` lines; what follows them is for a greater count.
    static func codes(_ path: String, option: String, count: Int) throws(ClientError) -> [String] {
        let kind = "a list of codes (\(maxListBytes) bytes)"
        let list = SecretLine(option: option, kind: kind, maxBytes: maxListBytes)
        var bytes = try list.contents(path)
        defer { wipe(&bytes) }
        var lines: [String] = []
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard let text = String(validating: line, as: UTF8.self) else {
                throw list.error(path, "is not UTF-8 in line \(lines.count + 1).")
            }
            lines.append(TerminalText.trimmed(text))
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard lines.count >= count else {
            throw list.error(path, "has \(lines.count) lines, and --count \(count) takes a code in each of \(count).")
        }
        lines.removeSubrange(count...)
        for (place, line) in lines.enumerated() {
            guard EnrollCommand.codeBytes.contains(line.utf8.count), !EnrollLink.isBegun(by: line) else {
                let range = EnrollCommand.codeBytes
                let what = EnrollLink.isBegun(by: line) ? "is a link" : "has \(line.utf8.count) bytes"
                throw list.error(
                    path,
                    "has no code in line \(place + 1): it \(what); a code has \(range.lowerBound) to "
                        + "\(range.upperBound) bytes.")
            }
        }
        return lines
    }

    static func wipe(_ bytes: inout [UInt8]) {
        unsafe bytes.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe explicit_bzero(start, bytes.count)
        }
    }

    /// The longest line, what may be around it, and more, by which a second line or a longer one is seen.
    private var capacity: Int { maxBytes + 64 }

    /// The line without what ends it: one line feed, or carriage return and line feed.
    ///
    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - trimmed: whether a byte order mark and the white space and empty lines around the line count for nothing.
    private func text(_ path: String, trimmed: Bool = false) throws(ClientError) -> String {
        var bytes = try contents(path)
        defer { Self.wipe(&bytes) }
        if trimmed, let text = String(validating: bytes, as: UTF8.self) {
            bytes = Array(TerminalText.trimmed(text).utf8)
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw error(path, "is empty.") }
        guard !bytes.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
            throw error(path, "has more than one line.")
        }
        guard bytes.count <= maxBytes else { throw error(path, "is too long for \(kind).") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw error(path, "is not UTF-8.") }
        return text
    }

    /// The bytes of a file.
    ///
    /// - Throws: `ClientError` if they reach ``capacity``: what was cut off could be of a line.
    private func contents(_ path: String) throws(ClientError) -> [UInt8] {
        let number = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw unreadable(path) }
        defer { close(number) }
        if path != "-" { try checkPrivacy(of: number, path) }
        var buffer = [UInt8](repeating: 0, count: capacity)
        defer { Self.wipe(&buffer) }
        var count = 0
        while count < capacity {
            let read = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(number, bytes.baseAddress?.advanced(by: count), capacity - count)
            }
            if read < 0 && errno == EINTR { continue }
            guard read >= 0 else { throw unreadable(path) }
            if read == 0 { break }
            count += read
        }
        // Windows PowerShell writes it unless it is told otherwise.
        guard !buffer.starts(with: [0xFF, 0xFE]), !buffer.starts(with: [0xFE, 0xFF]) else {
            throw error(path, "is UTF-16: save it as UTF-8.")
        }
        guard count < capacity else { throw error(path, "is too long for \(kind).") }
        return Array(buffer.prefix(count))
    }

    /// Refuses a regular file that others than its owner have a permission for.
    ///
    /// It asks the file that is open, not the path. A pipe (`/dev/fd/63`) is whoever's it was given to. systemd hands a
    /// service its credentials with the group's read bit, which is the mask of an ACL there.
    private func checkPrivacy(of number: Int32, _ path: String) throws(ClientError) {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw unreadable(path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & Self.privateMode != 0,
            !isCredential(path, status)
        else { return }
        let mode = "0" + String(status.st_mode & 0o777, radix: 8)
        throw error(path, "has mode \(mode), so others than its owner may use it: chmod 600 makes it private.")
    }

    /// Whether it stands in the directory of this service's credentials (systemd.exec(5)), readable by no stranger.
    private func isCredential(_ path: String, _ status: stat) -> Bool {
        guard let named = unsafe getenv("CREDENTIALS_DIRECTORY"), status.st_mode & 0o037 == 0, status.st_uid == 0,
            let slash = path.lastIndex(of: "/")
        else { return false }
        var (directory, folder) = (stat(), stat())
        guard unsafe stat(named, &directory) == 0, unsafe stat(String(path[...slash]), &folder) == 0 else {
            return false
        }
        return directory.st_dev == folder.st_dev && directory.st_ino == folder.st_ino
    }

    private func unreadable(_ path: String) -> ClientError {
        let number = errno
        return error(path, "cannot be read: \(unsafe String(cString: strerror(number)))")
    }

    private func error(_ path: String, _ problem: String) -> ClientError {
        .refused(ControlError(.invalidArgument, "\(option): \(path == "-" ? "standard input" : path) \(problem)"))
    }
}
