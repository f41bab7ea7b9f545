import Dispatch
import Glibc
import LineLog

/// Enter at the terminal from which the program was started.
enum TerminalKey {
    /// A value for each time that lines were typed; none if standard input is no terminal, or the program runs in the
    /// background of it.
    ///
    /// - Parameter hint: said on standard error if there is a terminal.
    static func presses(saying hint: String) -> AsyncStream<Void> {
        let (presses, pressed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return presses }
        // One that is put into the background is not stopped when it reads (tcgetpgrp(3)), but gets EIO.
        signal(SIGTTIN, SIG_IGN)
        StandardStream.error.say(hint)
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
            if count > 0 {
                pressed.yield()
            } else {
                source.cancel()
            }
        }
        source.activate()
        return presses
    }
}
