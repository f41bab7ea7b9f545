import Control
import FoundationEssentials
import Glibc
import LinuxProcess
import Prompting

/// The only code that prints: data on standard output, messages on standard error.
struct Output {
    let json: Bool
    /// Whether a closed pipe is a normal end, because the command only reads.
    ///
    /// A reader that has seen enough, such as head(1), closes the pipe.
    var isReading = false

    /// Prints one message as a line of JSON, or as `text` for people.
    ///
    /// Prints no line for an empty text.
    ///
    /// The text is not wrapped, so that people can copy it and programs can read it: an ID, a URL.
    func data<Message: Encodable>(_ message: Message, text: (Message) -> String) throws(ClientError) {
        let line = json ? try Self.json(message) : text(message)
        guard line.isEmpty || Self.write(line + "\n", to: STDOUT_FILENO) else {
            throw unwritten("Standard output cannot be written; what was asked of the agent is done.")
        }
    }

    /// Prints one message as a line of JSON, or as lines for people.
    ///
    /// At a terminal the rest of a long line is indented, so that text from others never begins a row.
    func data<Message: Encodable>(_ message: Message, lines: (Message) -> [ScreenLine]) throws(ClientError) {
        try data(message) { Self.text(lines($0), on: Self.traits(of: STDOUT_FILENO)) }
    }

    /// Prints raw bytes.
    func bytes(_ bytes: [UInt8]) throws(ClientError) {
        guard ProgramOutput.write(bytes, to: STDOUT_FILENO) else {
            throw unwritten("Standard output cannot be written.")
        }
    }

    /// The width of the terminal of standard output, or `nil` if it is not a terminal.
    static var columns: Int? { traits(of: STDOUT_FILENO)?.columns }

    /// Whether standard output shows UTF-8 unescaped; always so if it is not a terminal.
    static var isUTF8: Bool { traits(of: STDOUT_FILENO)?.isUTF8 ?? true }

    /// A terminal's capabilities, or `nil` for other output, whose lines have any length.
    static func traits(of descriptor: Int32) -> ScreenTraits? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        let columns = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
        return ScreenTraits(environment: ProcessInfo.processInfo.environment, columns: columns, isPlain: true)
    }

    static func text(_ lines: [ScreenLine], on traits: ScreenTraits?) -> String {
        lines.flatMap { line in traits.map(line.rows) ?? [line.text] }.joined(separator: "\n")
    }

    /// Ends the program with status 0 if the pipe is closed and the command only reads.
    private func unwritten(_ problem: String) -> ClientError {
        if errno == EPIPE, isReading { exit(EXIT_SUCCESS) }
        return .unclear(problem)
    }

    /// Prints a sentence for people, which scripts do not read; prints none with `--json`.
    func message(_ text: String) {
        if !json { printError(text) }
    }

    /// Prints a sentence about progress for people, also with `--json`: scripts do not read it.
    func news(_ text: String) { printError(text) }

    /// Prints an error; `subject` is the ID that it concerns, if there are several.
    func error(_ failure: ClientError, about subject: String? = nil) {
        let message = subject.map { "\($0): \(failure)" } ?? "\(failure)"
        do throws(ClientError) {
            guard json else { return printError("Error: \(message)") }
            _ = Self.write(try Self.json(ErrorView(failure.d1Code, message)) + "\n", to: STDERR_FILENO)
        } catch {
            printError("Error: \(error)")
        }
    }

    func usageError(_ text: String) {
        error(.refused(ControlError(.invalidArgument, text)))
    }

    /// Ignores failures: if standard error is closed, no reader is left.
    private func printError(_ text: String) {
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
