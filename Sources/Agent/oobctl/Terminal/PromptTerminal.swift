import Control
import Dispatch
import Glibc
import LinuxProcess
import Prompting
import Synchronization

/// An input of a prompt.
enum PromptInput: Sendable {
    case event(PromptEvent)
    /// A line that was typed for a question, which may have been removed.
    case line(PromptEvent, question: Int)
}

/// The terminal of `oobctl prompt`: writes, and reads one line for each question.
///
/// It stays in line mode: the kernel collects the typed text. So an answer counts only with its Enter, Ctrl-C and
/// Ctrl-Z are signals, and a killed program leaves the settings unchanged. The echo is off only while a PIN is typed.
final class PromptTerminal: Sendable {
    typealias Queue = AsyncStream<PromptInput>.Continuation

    private static let path = "/dev/tty"

    private let number: Int32
    /// The same terminal with non-blocking reads: the input may have been discarded since poll(2).
    private let reading: Int32
    private let modes: TerminalModes
    private let signals: SignalPipe
    private let wanted = Mutex<Wanted?>(nil)
    private let thread = DispatchQueue(label: "terminal")

    /// The line to read.
    private struct Wanted {
        let question: Int
        let isHidden: Bool
    }

    /// Returns `nil` if standard input is not a terminal, or the session has no controlling terminal.
    init?() {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        number = unsafe open(Self.path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        reading = unsafe open(Self.path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard number >= 0, reading >= 0, let modes = TerminalModes(of: number), let signals = SignalPipe() else {
            return nil
        }
        (self.modes, self.signals) = (modes, signals)
    }

    /// The terminal's width, or 0 if unknown.
    var columns: Int {
        var size = winsize()
        return unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
    }

    func write(_ bytes: [UInt8]) { _ = ProgramOutput.write(bytes, to: number) }

    /// Discards earlier input, and reads one line from now on.
    func want(question: Int, isHidden: Bool, isUTF8: Bool) {
        wanted.withLock {
            modes.begin(isHidden: isHidden, isUTF8: isUTF8)
            $0 = Wanted(question: question, isHidden: isHidden)
        }
        signals.wake()
    }

    /// Stops reading, discards typed text, and restores the terminal's settings.
    func unwant() {
        wanted.withLock {
            modes.restore()
            $0 = nil
        }
    }

    /// Stops the program as Ctrl-Z does; returns when the program goes on.
    func stop() {
        unwant()
        signals.stop()
    }

    /// Passes input and signals to the queue until the program ends.
    func start(_ queue: Queue) {
        thread.async { [self] in
            while true { turn(queue) }
        }
    }

    private func turn(_ queue: Queue) {
        let wanted = wanted.withLock { $0 }
        var sources = [
            pollfd(fd: signals.reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wanted == nil ? -1 : reading, events: Int16(POLLIN), revents: 0),
        ]
        let ready = unsafe poll(&sources, nfds_t(sources.count), wanted == nil ? -1 : 1_000)
        if ready == 0 { queue.yield(.event(.ticked)) }
        guard ready > 0 else { return }
        for signal in sources[0].revents == 0 ? [] : signals.drain() { handle(signal, queue) }
        guard sources[1].revents != 0, let wanted, let line = line(for: wanted) else { return }
        queue.yield(line)
    }

    private func handle(_ signal: Int32, _ queue: Queue) {
        switch signal {
        case SIGTSTP: queue.yield(.event(.stopped))
        case SIGCONT: queue.yield(.event(.continued))
        case SIGWINCH: queue.yield(.event(.resized(columns: columns)))
        case let signal where SignalPipe.ending.contains(signal):
            // Here, because output may block the other side.
            unwant()
            // The program has not ended after the first such signal, so it does not respond.
            if hasBeenEnded.exchange(true, ordering: .relaxed) { _exit(1) }
            queue.yield(.event(.givenUp))
        default: break
        }
    }

    private let hasBeenEnded = Atomic(false)

    /// Returns `nil` if the question was replaced or the input was discarded.
    ///
    /// Reads only one line for each question, so that pasted text decides at most once.
    private func line(for seen: Wanted) -> PromptInput? {
        wanted.withLock { wanted in
            guard wanted?.question == seen.question, let input = read(seen) else { return nil }
            wanted = nil
            return input
        }
    }

    /// Reads a line; end of input, also in the middle of a line (Ctrl-D), does not answer the question.
    private func read(_ wanted: Wanted) -> PromptInput? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        defer { SecretLine.wipe(&bytes) }
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(reading, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        guard count > 0, bytes[count - 1] == UInt8(ascii: "\n") else { return .event(.givenUp) }
        let text = String(validating: bytes[..<(count - 1)], as: UTF8.self) ?? ""
        return .line(wanted.isHidden ? .pin(PINText(text)) : .answer(text), question: wanted.question)
    }
}
