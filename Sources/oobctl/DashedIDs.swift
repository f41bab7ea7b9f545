/// IDs that begin with a dash: each 64th `jti`, where an issuer's are random base64url.
///
/// The parser would read one as options: it would refuse most, and print the help for one with an `h` in it. So they
/// are escaped before it reads the command line, and ``unescaped(_:)`` after.
enum DashedIDs {
    private static let commands: Set = ["approve", "deny", "show", "evidence"]

    /// The options of those commands that take no value; the word after any other is its value.
    private static let flags: Set = ["--json", "--next", "--open"]

    /// `words`, as they follow the program's name, with such IDs escaped; their order stays.
    static func escaped(_ words: [String]) -> [String] {
        guard let command = words.first, commands.contains(command) else { return words }
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return words.indices.map { index in
            let word = words[index]
            guard 0 < index, index < end, isDashedID(word), !takesValue(words[index - 1]) else { return word }
            return "\\" + word
        }
    }

    /// The ID as it was typed.
    static func unescaped(_ word: String) -> String {
        word.hasPrefix("\\-") ? String(word.dropFirst()) : word
    }

    private static func takesValue(_ word: String) -> Bool {
        word.hasPrefix("-") && word != "-" && !isDashedID(word) && !flags.contains(word) && !word.contains("=")
    }

    /// Whether it is what an ID may be and no option is: options have lower-case letters and dashes alone.
    private static func isDashedID(_ word: String) -> Bool {
        word.hasPrefix("-")
            && word.utf8.allSatisfy { isLowerCaseOrDash($0) || isOfIDsAlone($0) }
            && word.utf8.contains(where: isOfIDsAlone)
    }

    private static func isLowerCaseOrDash(_ octet: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet) || octet == UInt8(ascii: "-")
    }

    private static func isOfIDsAlone(_ octet: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) || octet == UInt8(ascii: "_")
    }
}
