import Control
import Glibc

/// A file with one secret in one line, a PIN or an enrollment code, or with a list of codes.
///
/// The file is read here, because the agent may not be able to read this user's files. The agent validates the PIN or
/// the code. This type checks that the file has lines of text, and that no other user can read it.
struct SecretLine {
    /// The name of the option, such as `--pin-file`.
    let option: String
    /// The kind of secret, such as `a PIN`.
    let kind: String
    let maxBytes: Int

    private static let privateMode = mode_t(0o077)
    /// The bytes of a list of codes: 100,000 codes of 160 bytes.
    private static let maxListBytes = 16_777_216

    /// Reads a PIN; refuses a byte order mark, which no PIN has, before it costs an attempt.
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

    /// The codes of the first `count` lines; further lines are for a greater count.
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

    /// Room for the longest line, white space around it, and more, to detect a second or longer line.
    private var capacity: Int { maxBytes + 64 }

    /// The line without its end: one line feed, or carriage return and line feed.
    ///
    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - trimmed: ignores a byte order mark, and white space and empty lines around the line.
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

    /// Reads a file.
    ///
    /// - Throws: `ClientError` if the file reaches ``capacity``: then a part of a line could be missing.
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
        // Windows PowerShell writes UTF-16 by default.
        guard !buffer.starts(with: [0xFF, 0xFE]), !buffer.starts(with: [0xFE, 0xFF]) else {
            throw error(path, "is UTF-16: save it as UTF-8.")
        }
        guard count < capacity else { throw error(path, "is too long for \(kind).") }
        return Array(buffer.prefix(count))
    }

    /// Refuses a regular file with a permission for other users than its owner.
    ///
    /// It checks the open file, not the path. A pipe (`/dev/fd/63`) belongs to the process that received it. systemd
    /// passes credentials to a service with the group's read bit, which is the mask of an ACL there.
    private func checkPrivacy(of number: Int32, _ path: String) throws(ClientError) {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw unreadable(path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & Self.privateMode != 0,
            !isCredential(path, status)
        else { return }
        let mode = "0" + String(status.st_mode & 0o777, radix: 8)
        throw error(path, "has mode \(mode), so others than its owner may use it: chmod 600 makes it private.")
    }

    /// Returns whether it is in this service's credentials directory (systemd.exec(5)), not readable by others.
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
