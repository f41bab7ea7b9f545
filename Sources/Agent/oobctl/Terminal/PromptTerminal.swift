import Control
import Dispatch
import Glibc
import LinuxProcess
import Prompting
import Synchronization

/// What comes from the person's side.
enum PromptInput: Sendable {
    case event(PromptEvent)
    /// A line that was typed for a question, which may stand no more.
    case line(PromptEvent, question: Int)
}

/// The terminal of `oobctl prompt`: writes, and reads one line for each question.
///
/// It stays in line mode: the kernel gathers what is typed, so an answer counts only with its Enter, Ctrl-C and Ctrl-Z
/// are signals, and a program that was killed leaves nothing behind. Only while a PIN is typed its echo is off.
final class PromptTerminal: Sendable {
    typealias Queue = AsyncStream<PromptInput>.Continuation

    private static let path = "/dev/tty"

    private let number: Int32
    /// The same terminal, with reads that wait for nothing: what was there may be thrown away meanwhile.
    private let reading: Int32
    private let modes: TerminalModes
    private let signals: SignalPipe
    private let wanted = Mutex<Wanted?>(nil)
    private let thread = DispatchQueue(label: "terminal")

    /// The line that is wanted.
    private struct Wanted {
        let question: Int
        let isHidden: Bool
    }

    /// Nil if standard input is no terminal, or this session has none.
    init?() {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        number = unsafe open(Self.path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        reading = unsafe open(Self.path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard number >= 0, reading >= 0, let modes = TerminalModes(of: number), let signals = SignalPipe() else {
            return nil
        }
        (self.modes, self.signals) = (modes, signals)
    }

    /// 0 if the terminal does not say.
    var columns: Int {
        var size = winsize()
        return unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
    }

    func write(_ bytes: [UInt8]) { _ = ProgramOutput.write(bytes, to: number) }

    /// Throws away what was typed so far, and reads one line from now on.
    func want(question: Int, isHidden: Bool, isUTF8: Bool) {
        wanted.withLock {
            modes.begin(isHidden: isHidden, isUTF8: isUTF8)
            $0 = Wanted(question: question, isHidden: isHidden)
        }
        signals.wake()
    }

    /// Reads nothing any more, throws away what was typed, and lets the terminal be as it was.
    func unwant() {
        wanted.withLock {
            modes.end()
            $0 = nil
        }
    }

    /// As Ctrl-Z has it; returns when the program goes on.
    func stop() {
        unwant()
        signals.stop()
    }

    /// Lets the queue have what is typed, and the signals, until the program ends.
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
        for signal in sources[0].revents == 0 ? [] : signals.drain() { take(signal, queue) }
        guard sources[1].revents != 0, let wanted, let line = line(for: wanted) else { return }
        queue.yield(line)
    }

    private func take(_ signal: Int32, _ queue: Queue) {
        switch signal {
        case SIGTSTP: queue.yield(.event(.stopped))
        case SIGCONT: queue.yield(.event(.continued))
        case SIGWINCH: queue.yield(.event(.resized(columns: columns)))
        case let signal where SignalPipe.ending.contains(signal):
            // Here, since the other side may be held up by its output.
            unwant()
            // Nobody has heard of the one before: the program does not go on.
            if hasBeenEnded.exchange(true, ordering: .relaxed) { _exit(1) }
            queue.yield(.event(.givenUp))
        default: break
        }
    }

    private let hasBeenEnded = Atomic(false)

    /// Nil if the line is no longer wanted, or was thrown away.
    ///
    /// Only one is read for a question: what is pasted decides once at most.
    private func line(for seen: Wanted) -> PromptInput? {
        wanted.withLock { wanted in
            guard wanted?.question == seen.question, let input = read(seen) else { return nil }
            wanted = nil
            return input
        }
    }

    /// End of input, also in the middle of a line (Ctrl-D), is no answer.
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
