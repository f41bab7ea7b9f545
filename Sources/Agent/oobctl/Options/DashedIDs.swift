import Control

/// IDs that begin with a dash: each 64th `jti` if an issuer makes them from random base64url.
///
/// The parser would read such an ID as options: it would refuse most, and print the help for one with an `h` in it. So
/// the IDs are escaped before parsing, and ``unescaped(_:)`` restores them. A word of two dashes and then only
/// lower-case letters and dashes is an option, and so are `-h` and `-o`. The agent refuses requests of such a `jti`.
///
/// A negative time after `clock advance` is escaped likewise, so that the command itself refuses it.
enum DashedIDs {
    private static let commands: Set = ["approve", "deny", "show", "evidence", "explain"]

    /// The options of those commands without a value; the word after any other option is its value.
    private static let flags: Set = ["--json", "--next", "--open", "--all", "--help", "--version", "-h"]

    /// `words`, which follow the program's name, with such IDs escaped, in the same order.
    static func escaped(_ words: [String]) -> [String] {
        guard let command = words.first, commands.contains(command) || command == "clock" else { return words }
        let end = words.firstIndex(of: "--") ?? words.endIndex
        var isValue = false
        let read = words[..<end].dropFirst().map { word in
            let isID = !isValue && isDashedID(word)
            isValue = !isValue && !isID && takesValue(word)
            return isID ? "\\" + word : word
        }
        return [command] + read + words[end...]
    }

    /// The ID as typed.
    static func unescaped(_ word: String) -> String {
        word.hasPrefix("\\-") ? String(word.dropFirst()) : word
    }

    private static func takesValue(_ word: String) -> Bool {
        word.hasPrefix("-") && word != "-" && !flags.contains(word) && !word.contains("=")
    }

    private static func isDashedID(_ word: String) -> Bool {
        word.hasPrefix("-") && !isOption(word) && (try? RequestSelector(id: word)) != nil
    }

    private static func isOption(_ word: String) -> Bool {
        let isOfOptions = word.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
        }
        return isOfOptions && (word.hasPrefix("--") || word.utf8.count <= 2)
    }
}
