import Control
import Glibc

/// The source of a PIN: the given file, or the person at the terminal.
enum PINQuestion {
    /// Gets an existing PIN.
    static func existing(file: String?, option: String = "--pin-file", _ question: String) throws(ClientError)
        -> PINText
    {
        if let file { return try SecretLine.pin(file, option: option) }
        return try ask(question, option)
    }

    /// Gets a new PIN; at a terminal it must be typed twice, until it is valid and both are the same.
    static func chosen(file: String?, option: String = "--pin-file", _ question: String) throws(ClientError)
        -> PINText
    {
        if let file { return try SecretLine.pin(file, option: option) }
        var hint = ""
        while true {
            let first = try ask(hint + question, option)
            if let problem = first.problem {
                hint = problem + " "
            } else if equal(first, try ask("The same again:", option)) {
                return first
            } else {
                hint = "The two PINs are not the same. "
            }
        }
    }

    private static func ask(_ question: String, _ option: String) throws(ClientError) -> PINText {
        guard let terminal = Terminal() else {
            throw .refused(ControlError(.invalidArgument, "There is no terminal to ask for a PIN at: use \(option)."))
        }
        var bytes = try terminal.hiddenLine(question)
        defer { SecretLine.wipe(&bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .refused(ControlError(.invalidArgument, "The PIN is not UTF-8; nothing was done."))
        }
        return PINText(text)
    }

    /// Compares in constant time for PINs of the same length.
    private static func equal(_ a: PINText, _ b: PINText) -> Bool {
        let (a, b) = (Array(a.revealed.utf8), Array(b.revealed.utf8))
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
