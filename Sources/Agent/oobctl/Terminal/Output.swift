import Control
import FoundationEssentials
import Glibc
import LinuxProcess
import Prompting

/// The only place that prints: data on standard output, messages on standard error.
struct Output {
    let json: Bool
    /// Whether the command only reads.
    ///
    /// Then a reader that has seen enough, such as head(1), ends it, and that is no failure.
    var isReading = false

    /// One message as a line of JSON, or what `text` makes of it for people; nothing for an empty text.
    ///
    /// The text reaches a terminal as it is, for what is copied or taken by programs: an ID, a URL.
    func data<Message: Encodable>(_ message: Message, text: (Message) -> String) throws(ClientError) {
        let line = json ? try Self.json(message) : text(message)
        guard line.isEmpty || Self.write(line + "\n", to: STDOUT_FILENO) else {
            throw unwritten("Standard output cannot be written; what was asked of the agent is done.")
        }
    }

    /// One message as a line of JSON, or lines for people.
    ///
    /// At a terminal the rest of a long line stands further to the right, so that no text from outside begins a row.
    func data<Message: Encodable>(_ message: Message, lines: (Message) -> [ScreenLine]) throws(ClientError) {
        try data(message) { Self.text(lines($0), on: Self.traits(of: STDOUT_FILENO)) }
    }

    /// Bytes as they came.
    func bytes(_ bytes: [UInt8]) throws(ClientError) {
        guard ProgramOutput.write(bytes, to: STDOUT_FILENO) else {
            throw unwritten("Standard output cannot be written.")
        }
    }

    /// How wide the terminal of standard output is; nil if that is no terminal.
    static var columns: Int? { traits(of: STDOUT_FILENO)?.columns }

    /// Whether standard output shows more than ASCII as it is; whatever is no terminal gets all characters.
    static var isUTF8: Bool { traits(of: STDOUT_FILENO)?.isUTF8 ?? true }

    /// What a terminal can show; nil for anything else, whose lines have any length.
    static func traits(of descriptor: Int32) -> ScreenTraits? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        let columns = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
        return ScreenTraits(environment: ProcessInfo.processInfo.environment, columns: columns, isPlain: true)
    }

    static func text(_ lines: [ScreenLine], on traits: ScreenTraits?) -> String {
        lines.flatMap { line in traits.map(line.rows) ?? [line.text] }.joined(separator: "\n")
    }

    /// Ends the program if nobody is left to read and nothing was done that has to be told.
    private func unwritten(_ problem: String) -> ClientError {
        if errno == EPIPE, isReading { exit(EXIT_SUCCESS) }
        return .unclear(problem)
    }

    /// A sentence for people, which no script reads; nothing with `--json`.
    func message(_ text: String) {
        if !json { note(text) }
    }

    /// A sentence for people about what goes on, beside JSON too: a script does not read it.
    func news(_ text: String) { note(text) }

    /// `subject` is the ID that it is about, if there are several.
    func error(_ failure: ClientError, about subject: String? = nil) {
        let message = subject.map { "\($0): \(failure)" } ?? "\(failure)"
        do throws(ClientError) {
            guard json else { return note("Error: \(message)") }
            _ = Self.write(try Self.json(ErrorView(failure.d1Code, message)) + "\n", to: STDERR_FILENO)
        } catch {
            note("Error: \(error)")
        }
    }

    func usageError(_ text: String) {
        error(.refused(ControlError(.invalidArgument, text)))
    }

    /// If standard error cannot be written there is nobody left to tell.
    private func note(_ text: String) {
        let line = ScreenLine(TerminalText.sentence(text), indent: 2)
        _ = Self.write(Self.text([line], on: Self.traits(of: STDERR_FILENO)) + "\n", to: STDERR_FILENO)
    }

    private static func json(_ message: some Encodable) throws(ClientError) -> String {
        do throws(ControlError) {
            return TerminalText.json(String(decoding: try ControlJSON.encode(message), as: UTF8.self))
        } catch {
            throw .refused(error)
        }
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        ProgramOutput.write(Array(text.utf8), to: descriptor)
    }
}
