import Glibc

/// The only place that writes to standard output and standard error.
enum StandardStream {
    /// One line, for whoever started the agent and reads on: where the control socket is, once it answers.
    case output
    /// Everything else: messages and the log.
    case error

    /// Writes one line at once, so that lines of several threads do not mix.
    func write(_ line: String) {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 || (written < 0 && errno == EINTR) else { return }
            rest = rest.dropFirst(max(written, 0))
        }
    }

    private var descriptor: CInt {
        switch self {
        case .output: STDOUT_FILENO
        case .error: STDERR_FILENO
        }
    }
}
