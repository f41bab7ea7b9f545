import Glibc
import QRCode

/// What standard output is drawn on.
struct TerminalLook {
    /// What is taken for granted where nobody says how wide a terminal is.
    private static let usualColumns = 80

    let isTerminal: Bool
    let drawing: QRDrawing
    /// Nil where it is no terminal: then there is no edge.
    let columns: Int?

    /// By the locale (locale(7)), `TERM` and `NO_COLOR`.
    init(_ environment: [String: String]) {
        isTerminal = isatty(STDOUT_FILENO) == 1
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        let isUTF8 = locale.lowercased().hasSuffix("utf-8") || locale.lowercased().hasSuffix("utf8")
        let takesEscapes = ![nil, "", "dumb"].contains(environment["TERM"])
        let wantsColours = environment["NO_COLOR", default: ""].isEmpty
        drawing = QRDrawing(isUTF8 ? .halfBlocks : .pairs, isColoured: isTerminal && takesEscapes && wantsColours)
        columns = isTerminal ? Self.columns : nil
    }

    private static var columns: Int {
        var size = winsize()
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : usualColumns
    }
}
