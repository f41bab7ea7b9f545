import Control
import Glibc

/// The terminal that a person sits at, for questions whose answer nobody else may see.
///
/// It is opened by its own name, so that a question reaches the person also where standard output is a pipe.
struct Terminal: ~Copyable {
    private static let path = "/dev/tty"
    /// The most octets of an answer.
    private static let most = PINText.octets.upperBound

    private let number: Int32

    /// Nil where standard input is no terminal: then nobody is there to answer.
    init?() {
        let number = isatty(STDIN_FILENO) == 1 ? unsafe open(Self.path, O_RDWR | O_CLOEXEC | O_NOCTTY) : -1
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit { close(number) }

    /// Whether there is a terminal to ask at.
    static var isThere: Bool {
        if Terminal() != nil { true } else { false }
    }

    /// Asks, and reads one line that is not shown.
    ///
    /// What was typed before the question is thrown away. The terminal is as it was before when this returns, and also
    /// when a signal ends the program meanwhile.
    ///
    /// - Throws: `ClientFailure` where the person gave up (Ctrl-C, end of input).
    func hiddenLine(_ question: String) throws(ClientFailure) -> [UInt8] {
        write(TerminalText.sentence(question) + " ")
        var before = termios()
        guard unsafe tcgetattr(number, &before) == 0 else { throw .refused(.noAnswer) }
        HiddenInput.begin(number, before)
        defer {
            HiddenInput.end()
            write("\n")
        }
        return try line(controls: before)
    }

    private func line(controls: termios) throws(ClientFailure) -> [UInt8] {
        var (octets, octet) = ([UInt8](), UInt8(0))
        // So that no copy is left behind by growing.
        octets.reserveCapacity(Self.most)
        while true {
            let count = unsafe read(number, &octet, 1)
            if count < 0 && errno == EINTR { continue }
            guard count == 1, let key = Key(octet, controls), key != .giveUp else {
                PINFile.wipe(&octets)
                throw .refused(.noAnswer)
            }
            switch key {
            case .enter: return octets
            case .eraseAll: octets.removeAll(keepingCapacity: true)
            case .erase: octets.removeLastCharacter()
            case .text, .giveUp: if octets.count < Self.most { octets.append(octet) }
            }
        }
    }

    private func write(_ text: String) { _ = Output.write(Array(text.utf8), to: number) }
}

/// What a person pressed.
private enum Key {
    case enter, erase, eraseAll, giveUp, text

    /// By the terminal's own settings (termios(3)), since it does no editing while nothing is shown.
    init?(_ octet: UInt8, _ controls: termios) {
        switch octet {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): self = .enter
        case 0x08, 0x7F, controls.c_cc.2: self = .erase  // VERASE
        case controls.c_cc.3: self = .eraseAll  // VKILL
        case controls.c_cc.0, controls.c_cc.1, controls.c_cc.4: self = .giveUp  // VINTR, VQUIT, VEOF
        default: self = .text
        }
    }
}

extension [UInt8] {
    /// Of UTF-8: with the octets that continue a character its first one goes too.
    fileprivate mutating func removeLastCharacter() {
        while let last = popLast(), last & 0xC0 == 0x80 {}
    }
}

extension ControlError {
    /// Nothing was decided (D1: cancelled).
    fileprivate static var noAnswer: ControlError {
        ControlError(.failed, "No PIN was given; nothing was done.", code: .cancelled)
    }
}
