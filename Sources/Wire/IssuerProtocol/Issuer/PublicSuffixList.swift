/// The public suffixes (publicsuffix.org): domains below which anyone may register a name.
///
/// Examples are `co.uk` and `github.io`. As in browsers, both parts of the list count: the registries' (ICANN) and the
/// private part.
package struct PublicSuffixList: Sendable {
    /// The maximum length of a rule with its mark, in bytes.
    ///
    /// A name has at most 253.
    private static let longestRule = 255

    /// The list as published: one rule a line, `//` before a comment.
    private let bytes: [UInt8]

    /// Creates a list from its published form.
    ///
    /// A line that is not a rule is ignored.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether it has at least one rule.
    ///
    /// Reads only up to the first.
    package var hasRule: Bool { hasLine { Self.rule($0) != nil } }

    /// Returns whether a host must not use an RP ID, as in browsers.
    ///
    /// The rule is that of WebAuthn §5.1.2 and of HTML's "registrable domain suffix". The host itself is allowed. Its
    /// public suffix is forbidden, and so are the parent domains of that suffix.
    ///
    /// - Parameters:
    ///   - rpId: the host or a parent domain of it.
    ///   - host: in lower case and ASCII.
    package func forbids(rpId: String, of host: String) -> Bool {
        guard rpId != host, let suffix = publicSuffix(of: host) else { return false }
        return rpId == suffix || suffix.hasSuffix(".\(rpId)")
    }

    /// Returns the longest public suffix that a name has or is.
    ///
    /// `nil` if no rule applies.
    ///
    /// - Parameter domain: in lower case and ASCII. Any other text has no public suffix.
    package func publicSuffix(of domain: String) -> String? {
        guard HostName.isValid(domain) else { return nil }
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        let parents = labels.indices.map { labels[$0...].joined(separator: ".") }
        let rules = rules(below: labels.last ?? "")
        // An exception removes a name, and all names below it, from the rule with the asterisk.
        if let excepted = parents.firstIndex(where: { rules.contains("!\($0)") }) {
            return excepted + 1 < parents.count ? parents[excepted + 1] : nil
        }
        return zip(parents, parents.dropFirst() + [""]).first { name, parent in
            rules.contains(name) || !parent.isEmpty && rules.contains("*.\(parent)")
        }?.0
    }

    /// Returns the rules for names below a top-level domain, in ASCII with their marks, such as `*.ck` and `!www.ck`.
    ///
    /// An enrollment calls this once. So only these rules become strings: a set of all 9,500 took 25 ms of the 30 ms of
    /// processor time of an enrollment (`make bench ONLY=enrollments`).
    private func rules(below topLevel: Substring) -> Set<String> {
        let (end, isUnicode) = (Array(topLevel.utf8), topLevel.hasPrefix("xn--"))
        var found: Set<String> = []
        _ = hasLine { line in
            let isAbout = line.last.map { $0 < 0x80 } == true ? line.suffix(end.count).elementsEqual(end) : isUnicode
            if isAbout, let rule = Self.rule(line) { found.insert(rule) }
            return false
        }
        return found
    }

    /// Returns whether a line meets the condition.
    ///
    /// A line ends at its first white space.
    private func hasLine(where isWanted: (ArraySlice<UInt8>) -> Bool) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let line = rest[..<end]
            if isWanted(line.prefix { $0 > UInt8(ascii: " ") }) { return true }
            rest = rest[end...].dropFirst()
        }
        return false
    }

    /// Parses a line as a rule in ASCII.
    ///
    /// The list may write its name in Unicode.
    private static func rule(_ line: ArraySlice<UInt8>) -> String? {
        guard line.count <= longestRule, !line.starts(with: "//".utf8),
            let text = String(validating: line, as: UTF8.self)
        else { return nil }
        let mark = text.hasPrefix("!") ? "!" : text.hasPrefix("*.") ? "*." : ""
        let labels = text.dropFirst(mark.count).split(separator: ".", omittingEmptySubsequences: false)
        let name = labels.map { Punycode.label(String($0)) }.joined(separator: ".")
        return HostName.isValid(name) && !HostName.isAddress(name) ? mark + name : nil
    }
}
