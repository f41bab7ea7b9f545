import Glibc

/// The settings of a terminal: as they were, and as a question needs them.
///
/// Neither way waits for output, which may be held (Ctrl-S).
struct TerminalModes: Sendable {
    private let number: Int32
    private let before: termios

    /// Nil if it is no terminal.
    init?(of number: Int32) {
        var before = termios()
        guard unsafe tcgetattr(number, &before) == 0 else { return nil }
        (self.number, self.before) = (number, before)
    }

    /// The line mode of the kernel, with or without echo; what was typed so far is thrown away.
    ///
    /// What is typed shows if it may, also if a program before this one has left the terminal without.
    ///
    /// - Parameter isUTF8: whether a character to be erased may have several bytes.
    func begin(isHidden: Bool, isUTF8: Bool) {
        var wanted = before
        if isUTF8 { wanted.c_iflag |= tcflag_t(IUTF8) }
        wanted.c_iflag |= tcflag_t(ICRNL)
        wanted.c_lflag |= tcflag_t(ICANON | ISIG | ECHO | ECHOE | ECHOK)
        if isHidden {
            wanted.c_lflag &= ~tcflag_t(ECHO)
            // The Enter shows, so that what follows begins a row of its own.
            wanted.c_lflag |= tcflag_t(ECHONL)
        }
        unsafe tcsetattr(number, TCSANOW, &wanted)
        tcflush(number, TCIFLUSH)
    }

    /// As it was before; what was typed and not read is thrown away, so that no shell takes it for a command.
    func end() {
        var before = before
        tcflush(number, TCIFLUSH)
        unsafe tcsetattr(number, TCSANOW, &before)
        tcflush(number, TCIFLUSH)
    }
}
