/// Breaks text into lines that fit a width in pixels of a proportional font.
struct TextFitting: Sendable {
    let size: Int
    var isBold = false

    /// Returns the width with a reserve, because the reader's font is unknown.
    func width(_ character: Character) -> Int {
        let thousandths = character.unicodeScalars.reduce(0) { $0 + GlyphWidth.thousandths($1) }
        return (thousandths * size * (isBold ? 116 : 100) + 99_999) / 100_000
    }

    func width(of text: some StringProtocol) -> Int { text.reduce(0) { $0 + width($1) } }

    /// Lines of a text, with the harm to its words: 1 for each break at a joint, 2 for a break elsewhere.
    struct Lines: Equatable {
        var texts: [String] = []
        var harm = 0

        /// Whether its last line ends with `…`.
        var isCut: Bool { texts.last?.hasSuffix("…") ?? false }
    }

    /// Breaks a text into at most `most` lines; the last one ends with `…` if text is left.
    func lines(_ text: String, width limit: Int, most: Int) -> Lines {
        var (rest, lines) = (text[...], Lines())
        while !rest.isEmpty {
            guard lines.texts.count < most - 1 else {
                lines.texts.append(cut(rest, width: limit))
                return lines
            }
            let (line, after, harm) = broken(rest, width: limit)
            lines.texts.append(String(line))
            lines.harm += harm
            rest = after
        }
        return lines
    }

    /// Breaks a list with commas into lines; an item stays whole if it fits on a line.
    func items(_ text: String, width limit: Int, most: Int) -> Lines {
        var lines = Lines()
        for item in Self.items(text) {
            if let last = lines.texts.last, width(of: last) + width(" ") + width(of: item) <= limit {
                lines.texts[lines.texts.count - 1] = "\(last) \(item)"
            } else if lines.texts.count < most {
                let more = self.lines(item, width: limit, most: most - lines.texts.count)
                lines.texts += more.texts
                lines.harm += more.harm
            } else {
                lines.texts[most - 1] = cut(lines.texts[most - 1], width: limit - width("…"))
                if !lines.isCut { lines.texts[most - 1] += "…" }
                break
            }
        }
        return lines
    }

    /// Breaks into the same number of lines as within `limit`, but of similar length, to avoid a last line of one word.
    func balanced(_ limit: Int, _ broken: (Int) -> Lines) -> [String] {
        let lines = broken(limit)
        guard !lines.isCut else { return lines.texts }
        var (narrow, wide) = (0, limit)
        while lines.texts.count > 1, wide - narrow > 1 {
            let between = (narrow + wide) / 2
            let other = broken(between)
            let isAsGood = other.texts.count <= lines.texts.count && other.harm <= lines.harm && !other.isCut
            if isAsGood { wide = between } else { narrow = between }
        }
        return broken(wide).texts
    }

    /// Returns the width of the widest item of a list.
    func widestItem(of text: String?) -> Int { text.map { Self.items($0).map(width).max() ?? 0 } ?? 0 }

    /// Returns the items, each with the comma that ends it.
    private static func items(_ text: String) -> [String] {
        var items: [String] = []
        for word in text.split(separator: " ") {
            if let last = items.last, !last.hasSuffix(",") {
                items[items.count - 1] = "\(last) \(word)"
            } else {
                items.append(String(word))
            }
        }
        return items
    }

    /// Returns the text, or as much of it as fits before a `…`.
    func cut(_ text: some StringProtocol, width limit: Int) -> String {
        guard width(of: text) > limit else { return String(text) }
        var (kept, used) = ("", width("…"))
        for character in text {
            used += width(character)
            guard used <= limit else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// Returns the first line, broken at a space if possible, and the rest.
    private func broken(
        _ text: Substring, width limit: Int
    ) -> (line: Substring, rest: Substring, harm: Int) {
        var (end, used) = (text.startIndex, 0)
        var space: Substring.Index?
        while end < text.endIndex {
            used += width(text[end])
            guard used <= limit else { break }
            if text[end] == " " { space = end }
            end = text.index(after: end)
        }
        if end == text.endIndex { return (text, "", 0) }
        if text[end] == " " { space = end }
        if let space { return (text[..<space], text[text.index(after: space)...], 0) }
        if let joint = Self.joint(of: text[..<end], before: text[end]) {
            return (text[..<joint], text[joint...], 1)
        }
        // At least one character, so that the loop ends.
        if end == text.startIndex { end = text.index(after: end) }
        return (text[..<end], text[end...], 2)
    }

    /// Returns the best break of a word that is too long: at a change to a capital, or after a URL's punctuation.
    private static func joint(of text: Substring, before next: Character) -> Substring.Index? {
        var (joint, following) = (text.endIndex, next)
        while joint > text.startIndex {
            let before = text.index(before: joint)
            guard text.distance(from: before, to: text.endIndex) * 2 <= text.count else { return nil }
            let isHump = text[before].isLowercase && following.isUppercase
            if isHump || "/?&=.-_".contains(text[before]) { return joint }
            (joint, following) = (before, text[before])
        }
        return nil
    }
}
