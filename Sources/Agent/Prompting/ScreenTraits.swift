/// What a terminal can show, as its environment says.
package struct ScreenTraits: Sendable, Equatable {
    /// Columns in which text is set; the last one stays free, where terminals wrap each in its own way.
    package internal(set) var columns: Int
    /// Whether the cursor can be moved, so that what is no longer asked can be taken back.
    ///
    /// Otherwise lines are only added.
    package let movesCursor: Bool
    package let hasColour: Bool
    /// Whether text can be a link (OSC 8).
    package let hasLinks: Bool
    /// Words instead of symbols, for whoever has the screen read out.
    package let isPlain: Bool
    /// Otherwise only ASCII is shown as it is.
    package let isUTF8: Bool

    private static let fewestColumns = 10
    private static let usualColumns = 80
    /// Terminals that would print the bytes of a link's address.
    private static let withoutLinks: Set<String> = ["linux"]

    /// - Parameter columns: of the terminal; 0 if it does not say.
    package init(environment: [String: String], columns: Int, isPlain: Bool) {
        let terminal = environment["TERM"] ?? ""
        let isDumb = terminal.isEmpty || terminal == "dumb"
        self.columns = Self.usable(columns)
        self.isPlain = isPlain
        movesCursor = !isDumb && !isPlain
        // no-color.org: any text that is not empty.
        hasColour = movesCursor && (environment["NO_COLOR"] ?? "").isEmpty
        hasLinks = movesCursor && !Self.withoutLinks.contains(terminal)
        isUTF8 = Self.isUTF8(environment)
    }

    static func usable(_ columns: Int) -> Int {
        columns == 0 ? usualColumns : max(fewestColumns, columns)
    }

    /// As setlocale(3) finds the character set: the first of these that is not empty.
    private static func isUTF8(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let charset = locale.split(separator: ".").dropFirst().first?.prefix { $0 != "@" } ?? ""
        return ["utf-8", "utf8"].contains(charset.lowercased())
    }
}
