extension Unicode.Scalar {
    /// Whether it must be escaped: it is invisible, moves or ends text, or has no meaning.
    var isUnfitToShow: Bool {
        // A fast path, because most text is ASCII.
        if isASCII { return value < 0x20 || value == 0x7F }
        return properties.isDefaultIgnorableCodePoint || isOfUnfitCategory || Self.blanks.contains(self)
    }

    /// Whether it is drawn onto the scalar before it.
    var isCombiningMark: Bool {
        guard !isASCII else { return false }
        return switch properties.generalCategory {
        case .nonspacingMark, .spacingMark: true
        default: false
        }
    }

    private var isOfUnfitCategory: Bool {
        switch properties.generalCategory {
        // Escape sequences begin with a control character. U+0085 is a new line.
        case .control: true
        // Bidirectional controls, zero-width characters, tags, the soft hyphen.
        case .format: true
        // U+2028, U+2029.
        case .lineSeparator, .paragraphSeparator: true
        // They look like the space, or are some empty columns.
        case .spaceSeparator: true
        // Circles and strokes drawn around or through the character before.
        case .enclosingMark: true
        // Systems draw these differently, if at all. Noncharacters are unassigned.
        case .unassigned, .privateUse, .surrogate: true
        default: false
        }
    }

    /// Letters, symbols and one mark that Unicode calls visible, but that fonts draw as a blank.
    private static let blanks: Set<Unicode.Scalar> = [
        "\u{2800}",  // braille pattern blank
        "\u{FFFC}",  // object replacement character
        "\u{13441}", "\u{13442}",  // Egyptian hieroglyph full and half blank
        "\u{16FE4}",  // Khitan small script filler
        "\u{1D159}",  // musical symbol null notehead
    ]
}
