import Glibc

/// A terminal that shows nothing of what is typed, and is put back as it was also if a signal ends the program.
enum HiddenInput {
    private static let signals = [SIGTERM, SIGHUP]
    // Written before the handlers are there, and read by them alone: one question is asked at a time.
    // Memory of its own, for the compiler gives a static termios three bytes less than it writes.
    private nonisolated(unsafe) static let before = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    private nonisolated(unsafe) static var number: Int32 = -1

    /// The keys of Ctrl-C and the like come as bytes: whoever reads decides about them.
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
        // What was typed before the question is thrown away.
        unsafe tcsetattr(number, TCSAFLUSH, &hidden)
    }

    static func end() {
        unsafe tcsetattr(number, TCSAFLUSH, before)
        for signal in signals { _ = Glibc.signal(signal, SIG_DFL) }
    }
}
