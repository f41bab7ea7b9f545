import Glibc

/// Signals as bytes of a pipe (self-pipe), so that poll(2) waits for them and for other input.
struct SignalPipe: Sendable {
    /// Signals that end a program, and `others`: Ctrl-Z, the continuation after a stop, and a new terminal size.
    static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let others = [SIGTSTP, SIGCONT, SIGWINCH]
    // Written before the handlers are installed, and read only by them.
    private nonisolated(unsafe) static var writing: Int32 = -1

    let reading: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends {
            guard fcntl(end, F_SETFD, FD_CLOEXEC) == 0, fcntl(end, F_SETFL, O_NONBLOCK) == 0 else { return nil }
        }
        reading = ends[0]
        unsafe Self.writing = ends[1]
        for signal in Self.ending + Self.others { Self.open(signal) }
    }

    /// Wakes the loop; if the pipe is full, the loop wakes anyway.
    func wake() { Self.write(0) }

    /// The signals since the last call, with 0 for a wake-up.
    func drain() -> [Int32] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(reading, $0.baseAddress, $0.count) }
        return bytes.prefix(max(0, count)).map(Int32.init)
    }

    /// Stops the program as Ctrl-Z does; returns when it goes on, or at once if no shell could wake it.
    func stop() {
        for number in [SIGTSTP, SIGCONT] { _ = signal(number, SIG_DFL) }
        // Threads of a pool have signals blocked. This thread must stop before it goes on.
        var (stop, before) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&stop)
        unsafe sigaddset(&stop, SIGTSTP)
        unsafe pthread_sigmask(SIG_UNBLOCK, &stop, &before)
        raise(SIGTSTP)
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        for number in [SIGTSTP, SIGCONT] { Self.open(number) }
    }

    private static func open(_ number: Int32) {
        _ = signal(number) { SignalPipe.write(UInt8(truncatingIfNeeded: $0)) }
    }

    private static func write(_ byte: UInt8) {
        let before = errno
        unsafe withUnsafeBytes(of: byte) { _ = unsafe Glibc.write(writing, $0.baseAddress, 1) }
        errno = before
    }
}
