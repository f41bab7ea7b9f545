import Control
import Glibc
import LinuxProcess
import Prompting

/// The controlling terminal, for questions that only a person can answer.
///
/// It is opened as /dev/tty, so that a question reaches the person even if standard output is a pipe.
struct Terminal: ~Copyable {
    private static let path = "/dev/tty"
    /// The maximum number of bytes of an answer.
    private static let limit = PINText.bytes.upperBound

    private let number: Int32

    /// Returns `nil` if standard input is not a terminal: then no person can answer.
    init?() {
        let number = isatty(STDIN_FILENO) == 1 ? unsafe open(Self.path, O_RDWR | O_CLOEXEC | O_NOCTTY) : -1
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit { close(number) }

    /// Whether a terminal for questions exists.
    static var isThere: Bool {
        if Terminal() != nil { true } else { false }
    }

    /// Asks, and reads one line without echo.
    ///
    /// Text typed before the question is discarded. The terminal's settings are restored when this returns, and also
    /// when a signal ends the program meanwhile.
    ///
    /// - Throws: `ClientError` if the person gave up (Ctrl-C, end of input).
    func hiddenLine(_ question: String) throws(ClientError) -> [UInt8] {
        try answer(to: question, isShown: false, else: .noPIN)
    }

    /// Asks a yes-or-no question below lines that describe it.
    ///
    /// Only "y" and "yes" mean yes.
    ///
    /// As with ``hiddenLine(_:)``, text typed before the question does not answer it.
    ///
    /// - Throws: `refusal` if the person gave up (Ctrl-C, end of input).
    func agrees(
        to question: String, about lines: [ScreenLine], else refusal: ControlError
    ) throws(ClientError) -> Bool {
        write(Output.text(lines, on: Output.traits(of: number)) + "\n")
        let bytes = try answer(to: question + " [y/N]", isShown: true, else: refusal)
        let answer = String(decoding: bytes, as: UTF8.self).lowercased()
        return answer == "y" || answer == "yes"
    }

    private func answer(
        to question: String, isShown: Bool, else refusal: ControlError
    ) throws(ClientError) -> [UInt8] {
        var before = termios()
        guard unsafe tcgetattr(number, &before) == 0 else { throw .refused(refusal) }
        // Before the question: a person may answer as soon as it appears, and that text must be hidden and read.
        HiddenInput.begin(number, before)
        let asked = ScreenLine(TerminalText.sentence(question), indent: 2)
        write(Output.text([asked], on: Output.traits(of: number)) + " ")
        defer {
            HiddenInput.restore()
            write("\n")
        }
        guard let bytes = line(controls: before, isShown: isShown) else { throw .refused(refusal) }
        return bytes
    }

    /// Returns `nil` if the person gave up.
    private func line(controls: termios, isShown: Bool) -> [UInt8]? {
        var (bytes, byte) = ([UInt8](), UInt8(0))
        // Reserved, so that growing the array leaves no copy of the secret in memory.
        bytes.reserveCapacity(Self.limit)
        while true {
            let count = unsafe read(number, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            guard count == 1, let key = Key(byte, controls), key != .giveUp else {
                SecretLine.wipe(&bytes)
                return nil
            }
            let before = bytes.count
            switch key {
            case .enter: return bytes
            case .eraseAll: bytes.removeAll(keepingCapacity: true)
            case .erase: bytes.removeLastCharacter()
            case .text, .giveUp:
                // Only characters of one column that a terminal does not interpret are accepted if the answer is shown.
                let isTaken = !isShown || (0x20...0x7E).contains(byte)
                if isTaken && bytes.count < Self.limit { bytes.append(byte) }
            }
            if isShown { show(bytes, after: before) }
        }
    }

    /// Prints the new characters, or erases the removed ones.
    private func show(_ bytes: [UInt8], after before: Int) {
        let gone = String(repeating: "\u{8} \u{8}", count: max(0, before - bytes.count))
        write(gone + String(decoding: bytes.dropFirst(before), as: UTF8.self))
    }

    private func write(_ text: String) { _ = ProgramOutput.write(Array(text.utf8), to: number) }
}

/// A key press.
private enum Key {
    case enter, erase, eraseAll, giveUp, text

    /// Uses the terminal's settings (termios(3)), because the kernel edits no line in this mode.
    init?(_ byte: UInt8, _ controls: termios) {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): self = .enter
        case 0x08, 0x7F, controls.c_cc.2: self = .erase  // VERASE
        case controls.c_cc.3: self = .eraseAll  // VKILL
        case controls.c_cc.0, controls.c_cc.1, controls.c_cc.4: self = .giveUp  // VINTR, VQUIT, VEOF
        default: self = .text
        }
    }
}

extension [UInt8] {
    /// Removes the last UTF-8 character with all its bytes.
    fileprivate mutating func removeLastCharacter() {
        while let last = popLast(), last & 0xC0 == 0x80 {}
    }
}

extension ControlError {
    /// The person gave no PIN, so there was no decision (D1: cancelled).
    fileprivate static var noPIN: ControlError {
        ControlError(.failed, "No PIN was given; nothing was done.", code: .cancelled)
    }
}
