import Glibc

/// The only place that writes to standard error.
enum StandardError {
    /// Writes one line at once, so that lines of several threads do not mix.
    static func write(_ line: String) { writeLine(line, to: STDERR_FILENO) }
}

/// The only place that writes to standard output.
enum StandardOutput {
    static func write(_ text: String) { writeLine(text, to: STDOUT_FILENO) }
}

private func writeLine(_ line: String, to file: CInt) {
    var rest = Array((line + "\n").utf8)[...]
    while !rest.isEmpty {
        let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
        guard written > 0 || (written < 0 && errno == EINTR) else { return }
        rest = rest.dropFirst(max(written, 0))
    }
}
