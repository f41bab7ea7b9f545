import Glibc

/// A terminal's settings: the original ones, and those for a question.
///
/// Neither change waits for output, which Ctrl-S may have stopped.
struct TerminalModes: Sendable {
    private let number: Int32
    private let before: termios

    /// Returns `nil` if the descriptor is not of a terminal.
    init?(of number: Int32) {
        var before = termios()
        guard unsafe tcgetattr(number, &before) == 0 else { return nil }
        (self.number, self.before) = (number, before)
    }

    /// Sets the kernel's line mode, with or without echo.
    ///
    /// Discards earlier input.
    ///
    /// Turns the echo on, unless `isHidden`, even if an earlier program has left it off.
    ///
    /// - Parameter isUTF8: makes the erase key remove all bytes of a character.
    func begin(isHidden: Bool, isUTF8: Bool) {
        var wanted = before
        if isUTF8 { wanted.c_iflag |= tcflag_t(IUTF8) }
        wanted.c_iflag |= tcflag_t(ICRNL)
        wanted.c_lflag |= tcflag_t(ICANON | ISIG | ECHO | ECHOE | ECHOK)
        if isHidden {
            wanted.c_lflag &= ~tcflag_t(ECHO)
            // Echo the Enter, so that the next line begins a new row.
            wanted.c_lflag |= tcflag_t(ECHONL)
        }
        unsafe tcsetattr(number, TCSANOW, &wanted)
        tcflush(number, TCIFLUSH)
    }

    /// Restores the original settings; discards unread input, so that no shell reads it as a command.
    func restore() {
        var before = before
        tcflush(number, TCIFLUSH)
        unsafe tcsetattr(number, TCSANOW, &before)
        tcflush(number, TCIFLUSH)
    }
}
