extension Unicode.Scalar {
    /// Whether the scalar may not be shown as it is: it is invisible, moves or ends text, or means nothing.
    var isUnfitToShow: Bool {
        // ASCII fast: text is mostly that.
        if isASCII { return value < 0x20 || value == 0x7F }
        return properties.isDefaultIgnorableCodePoint || isOfUnfitCategory || Self.blanks.contains(self)
    }

    /// Whether the scalar is drawn onto the one before it.
    var isCombiningMark: Bool {
        guard !isASCII else { return false }
        return switch properties.generalCategory {
        case .nonspacingMark, .spacingMark: true
        default: false
        }
    }

    private var isOfUnfitCategory: Bool {
        switch properties.generalCategory {
        // Escape sequences begin with one; U+0085 is a new line.
        case .control: true
        // Bidirectional controls, zero-width characters, tags, the soft hyphen.
        case .format: true
        // U+2028, U+2029.
        case .lineSeparator, .paragraphSeparator: true
        // They look as the space does, or are some columns of nothing.
        case .spaceSeparator: true
        // Circles and strokes drawn around or through what is before.
        case .enclosingMark: true
        // No two systems draw these alike, if at all. Noncharacters are unassigned.
        case .unassigned, .privateUse, .surrogate: true
        default: false
        }
    }

    /// Letters, symbols and one mark that Unicode has as visible and fonts draw as nothing.
    private static let blanks: Set<Unicode.Scalar> = [
        "\u{2800}",  // braille pattern blank
        "\u{FFFC}",  // object replacement character
        "\u{13441}", "\u{13442}",  // Egyptian hieroglyph full and half blank
        "\u{16FE4}",  // Khitan small script filler
        "\u{1D159}",  // musical symbol null notehead
    ]
}
