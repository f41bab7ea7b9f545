/// A terminal's capabilities, from the environment.
package struct ScreenTraits: Sendable, Equatable {
    /// Columns for text; the last column stays free: terminals differ in how they wrap there.
    package internal(set) var columns: Int
    /// Whether moving the cursor is possible, so that an old question can be erased.
    ///
    /// Otherwise lines are only added.
    package let movesCursor: Bool
    package let hasColour: Bool
    /// Whether text can be a link (OSC 8).
    package let hasLinks: Bool
    /// Words instead of symbols, for users of a screen reader.
    package let isPlain: Bool
    /// Whether UTF-8 is shown unescaped, in contrast to ASCII only.
    package let isUTF8: Bool

    private static let fewestColumns = 10
    private static let usualColumns = 80
    /// Terminals that would print the bytes of a link's address.
    private static let withoutLinks: Set<String> = ["linux"]

    /// - Parameter columns: of the terminal. 0 if unknown.
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

    /// Finds the character set as setlocale(3) does: from the first of these variables that is not empty.
    private static func isUTF8(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let charset = locale.split(separator: ".").dropFirst().first?.prefix { $0 != "@" } ?? ""
        return ["utf-8", "utf8"].contains(charset.lowercased())
    }
}
