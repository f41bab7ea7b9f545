import Dispatch
import Glibc
import LineLog

/// The Enter key at the terminal from which the program was started.
enum TerminalKey {
    /// Returns a value for each typed line; none without a terminal as standard input, or in the background.
    ///
    /// - Parameter hint: the text printed on standard error if there is a terminal.
    static func presses(saying hint: String) -> AsyncStream<Void> {
        let (presses, pressed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return presses }
        // A process that moves to the background then gets EIO from read, and is not stopped (tcgetpgrp(3)).
        signal(SIGTTIN, SIG_IGN)
        StandardStream.error.log(hint)
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
