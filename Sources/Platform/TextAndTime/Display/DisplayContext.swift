/// The form in which a scalar is written.
enum DisplayForm {
    case plain, escapedSpace, escapedBackslash, hostile

    func written(_ scalar: Unicode.Scalar) -> String {
        switch self {
        case .plain: String(scalar)
        case .escapedBackslash: #"\\"#
        case .escapedSpace, .hostile: #"\u{"# + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
    }
}

/// The text before a scalar, as far as it determines how the scalar is written.
///
/// A look ahead is at most five scalars long, so a whole text takes time in proportion to its length.
struct DisplayContext {
    /// The most marks on one character.
    ///
    /// More marks are a pile that reaches into other lines, and no name needs them.
    private static let marksInARow = 4

    private static let nonJoiner: Unicode.Scalar = "\u{200C}"
    private static let joiner: Unicode.Scalar = "\u{200D}"
    private static let emojiVariation: Unicode.Scalar = "\u{FE0F}"
    private static let keycap: Unicode.Scalar = "\u{20E3}"

    /// The scalar before this one, if it is not escaped.
    private var previous: Unicode.Scalar?
    /// The last unescaped scalar that is neither a mark nor a joiner, without an escape after it.
    private var base: Unicode.Scalar?
    private var followsSpace = true
    /// The number of marks and joiners since the base.
    private var marks = 0
    /// Whether an emoji precedes, with its modifier or variation selector.
    private var followsEmoji = false

    /// Returns the form of a scalar, given the text after it.
    func form(of scalar: Unicode.Scalar, before rest: Substring.UnicodeScalarView) -> DisplayForm {
        switch scalar {
        case " ": return followsSpace || rest.isEmpty ? .escapedSpace : .plain
        case "\\": return .escapedBackslash
        case _ where scalar.isWordSpace: return isBetweenWords(rest) ? .plain : .hostile
        case Self.nonJoiner: return marks < Self.marksInARow && callsForNonJoiner(rest) ? .plain : .hostile
        case Self.joiner: return marks < Self.marksInARow && callsForJoiner(rest) ? .plain : .hostile
        case Self.emojiVariation: return callsForEmojiVariation(rest) ? .plain : .hostile
        // U+FE0F is allowed after such a sign only before a keycap.
        case Self.keycap where previous == Self.emojiVariation && marks == 1 && base?.isKeycapBase == true:
            return .plain
        // UTS #37: variation selectors of an ideograph.
        case "\u{E0100}"..."\u{E01EF}":
            return previous?.properties.isUnifiedIdeograph == true ? .plain : .hostile
        default: break
        }
        guard !scalar.isUnfitToShow else { return .hostile }
        // A mark at the beginning would combine with the label. A mark after an escape would combine with its brace.
        guard !scalar.isCombiningMark || (previous != nil && marks < Self.marksInARow) else { return .hostile }
        return .plain
    }

    mutating func advance(past scalar: Unicode.Scalar, as form: DisplayForm) {
        let isPlain = form == .plain
        let isAttached =
            scalar.isCombiningMark || scalar == Self.nonJoiner || scalar == Self.joiner || scalar == Self.keycap
        followsSpace = scalar == " " || (isPlain && scalar.isWordSpace)
        followsEmoji = isPlain && (scalar.isPictograph || (scalar == Self.emojiVariation && followsEmoji))
        marks = isAttached ? marks + 1 : 0
        if !isAttached || !isPlain { base = isPlain ? scalar : nil }
        previous = isPlain ? scalar : nil
    }

    /// Returns whether a space other than U+0020 stands alone between two words.
    private func isBetweenWords(_ rest: Substring.UnicodeScalarView) -> Bool {
        guard !followsSpace, previous != nil, let next = rest.first else { return false }
        return next.properties.generalCategory != .spaceSeparator
    }

    /// Returns whether U+FE0F asks for the picture of the scalar before, or begins a keycap (UTS #51, ED-14c).
    private func callsForEmojiVariation(_ rest: Substring.UnicodeScalarView) -> Bool {
        guard let previous else { return false }
        return previous.isEmojiBase || (previous.isKeycapBase && rest.first == Self.keycap)
    }

    /// Whether a virama precedes, on a letter of its own script.
    ///
    /// On a letter of another script, it would allow joiners in any word.
    private var followsVirama: Bool {
        guard let previous, previous.isVirama, let script = MixedScripts.script(of: previous) else { return false }
        return base.flatMap(MixedScripts.script) == script
    }

    /// Returns whether a non-joiner is allowed here (RFC 5892 Appendix A.1).
    ///
    /// It is allowed after a virama, or between letters that would join without it.
    private func callsForNonJoiner(_ rest: Substring.UnicodeScalarView) -> Bool {
        if followsVirama { return true }
        // A joiner before it already determines whether the letters join.
        guard previous != Self.nonJoiner, previous != Self.joiner, base.map(JoiningTypes.joinsNext) == true else {
            return false
        }
        let next = rest.prefix(Self.marksInARow + 1).first { !$0.isTransparentToJoining }
        return next.map(JoiningTypes.joinsPrevious) == true
    }

    /// Returns whether a joiner is allowed here.
    ///
    /// It is allowed after a virama (RFC 5892 Appendix A.2), between two emoji (UTS #51, ED-16), and before a virama.
    private func callsForJoiner(_ rest: Substring.UnicodeScalarView) -> Bool {
        if followsVirama { return true }
        if followsEmoji, let next = rest.first { return next.isPictograph && !next.properties.isEmojiModifier }
        return isJoinedBeforeVirama(rest)
    }

    /// Returns whether a joiner is allowed before a virama.
    ///
    /// It is allowed in Bengali's ra with ya-phalaa, Kannada's ra that is not a repha, and Sinhala's touching letters
    /// (The Unicode Standard, sections 12.2, 12.8 and 13.2): letter, ZWJ, virama, letter. RFC 5892 does not have this
    /// rule.
    private func isJoinedBeforeVirama(_ rest: Substring.UnicodeScalarView) -> Bool {
        guard let letter = previous?.value, let virama = rest.first?.value, let next = rest.dropFirst().first?.value
        else { return false }
        return switch (letter, virama) {
        case (0x9B0, 0x9CD): next == 0x9AF
        case (0xCB0, 0xCCD): (0xC95...0xCB9).contains(next)
        case (0xD9A...0xDC6, 0xDCA): (0xD9A...0xDC6).contains(next)
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is a space that Japanese and French put between words instead of U+0020.
    fileprivate var isWordSpace: Bool { self == "\u{3000}" || self == "\u{202F}" || self == "\u{A0}" }

    /// Whether it is a sign that keycap emoji are made of.
    fileprivate var isKeycapBase: Bool { ("0"..."9").contains(self) || self == "#" || self == "*" }

    var isVirama: Bool { !isASCII && properties.canonicalCombiningClass == .virama }

    fileprivate var isTransparentToJoining: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether U+FE0F may ask for its picture; digits and `#` would look the same with it.
    fileprivate var isEmojiBase: Bool { !isASCII && properties.isEmoji && !properties.isEmojiModifier && !isFlagLetter }

    /// Whether it is a letter of which two are a flag; none of these letters has a variation.
    private var isFlagLetter: Bool { (0x1F1E6...0x1F1FF).contains(value) }

    /// Whether it is an emoji that sequences are made of: all except digits and signs such as `©` and `™`.
    fileprivate var isPictograph: Bool { value >= 0x2190 && properties.isEmoji }
}
