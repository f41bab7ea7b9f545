import Glibc
import LinuxProcess
import Synchronization

/// The progress of a run, on standard error at a terminal.
final class ProgressBar: Sendable {
    private static let cells = 30

    private let total: Int
    private let done = Mutex(0)

    init(total: Int) { self.total = total }

    /// Counts a finished case, and shows its name.
    func advance(_ name: String) {
        let done = done.withLock { done in
            done += 1
            return done
        }
        let filled = Self.cells * done / max(total, 1)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.cells - filled)
        show("[\(bar)] \(done) of \(total)  \(name)")
    }

    /// Clears the line.
    func clear() { show("") }

    /// Replaces the text of the terminal's line.
    private func show(_ text: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        _ = ProgramOutput.write(Array("\r\(text)\u{1B}[K".utf8), to: STDERR_FILENO)
    }
}
