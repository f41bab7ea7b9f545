import Glibc

/// A terminal without echo; a signal that ends the program restores its settings first.
enum HiddenInput {
    private static let signals = [SIGTERM, SIGHUP]
    // Written before the handlers are installed, and read only by them: there is one question at a time.
    // Allocated, because the compiler gives a static termios three bytes less than it writes.
    private nonisolated(unsafe) static let before = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    private nonisolated(unsafe) static var number: Int32 = -1

    /// Turns off the echo, the line mode and the signal keys: the reader gets Ctrl-C and others as bytes.
    static func begin(_ number: Int32, _ before: termios) {
        unsafe Self.before.initialize(to: before)
        unsafe Self.number = number
        for signal in signals {
            _ = Glibc.signal(signal) { signal in
                unsafe tcsetattr(HiddenInput.number, TCSANOW, HiddenInput.before)
                _ = Glibc.signal(signal, SIG_DFL)
                raise(signal)
            }
        }
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG)
        // TCSAFLUSH discards text that was typed before the question.
        unsafe tcsetattr(number, TCSAFLUSH, &hidden)
    }

    static func restore() {
        unsafe tcsetattr(number, TCSAFLUSH, before)
        for signal in signals { _ = Glibc.signal(signal, SIG_DFL) }
    }
}
