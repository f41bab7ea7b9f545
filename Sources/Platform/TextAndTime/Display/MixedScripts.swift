/// The scripts of a word's letters, if two of them in one word can mislead.
///
/// Unicode names each letter after its script ("CYRILLIC SMALL LETTER A"), so no table of scripts is needed here.
package enum MixedScripts {
    /// The sets of scripts that one word may have: the sets that UTS #39 §5.2 calls highly restrictive.
    private static let together: [Set<String>] = [
        ["LATIN", "CJK", "HIRAGANA", "KATAKANA"], ["LATIN", "CJK", "BOPOMOFO"], ["LATIN", "CJK", "HANGUL"],
    ]
    /// The first words of the Unicode names of letters that go with any script.
    ///
    /// They are marks above and behind letters, units, and letters that several scripts share.
    private static let neutral: Set<String> = [
        "MODIFIER", "SUPERSCRIPT", "FEMININE", "MASCULINE", "CARON", "MICRO", "OHM", "KELVIN", "ANGSTROM",
        "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "VERTICAL", "MASU", "INFORMATION", "VEDIC",
    ]

    /// Returns whether a word of the text has letters of scripts that are not written together.
    package static func areIn(_ text: String) -> Bool {
        // A fast path, because most text is ASCII.
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        var scripts: Set<String> = []
        for scalar in text.unicodeScalars {
            guard scalar.isOfWord else {
                scripts = []
                continue
            }
            guard let script = script(of: scalar), scripts.insert(script).inserted else { continue }
            guard scripts.count == 1 || together.contains(where: scripts.isSubset) else { return true }
        }
        return false
    }

    /// Returns the script of a letter or a virama, or `nil` if it is neither or goes with any script.
    static func script(of scalar: Unicode.Scalar) -> String? { scalar.script }

    fileprivate static func script(ofLetterNamed name: String) -> String? {
        var words = name.split(separator: " ", maxSplits: 2)[...]
        if words.first == "FULLWIDTH" || words.first == "HALFWIDTH" { words = words.dropFirst() }
        guard let first = words.first.map(String.init), !neutral.contains(first) else { return nil }
        return first == "HENTAIGANA" ? "HIRAGANA" : first
    }
}

extension Unicode.Scalar {
    /// Whether it continues a word: a letter, a mark on a letter, a digit, or an invisible scalar.
    fileprivate var isOfWord: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber:
            true
        default: properties.isDefaultIgnorableCodePoint
        }
    }

    fileprivate var script: String? {
        guard !isASCII else { return properties.isAlphabetic ? "LATIN" : nil }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            return properties.name.flatMap(MixedScripts.script)
        // Other marks go with any script. A virama belongs to its own script.
        default: return isVirama ? properties.name.flatMap(MixedScripts.script) : nil
        }
    }
}
