/// The public suffixes (publicsuffix.org): domains below which anyone may get a name, such as `co.uk` or `github.io`.
///
/// Both parts of the list count, as in browsers: the registries' (ICANN) and the private one.
package struct PublicSuffixList: Sendable {
    /// The longest rule with its mark, in bytes: a name has 253 at most.
    private static let longestRule = 255

    /// In ASCII, with their marks: `co.uk`, `*.ck`, `!www.ck`.
    private let rules: Set<String>

    /// The number of rules.
    package var count: Int { rules.count }

    /// Reads the list as it is published: one rule a line, `//` before a comment.
    ///
    /// A line that is no rule is left out.
    package init(_ bytes: [UInt8]) {
        rules = Set(bytes.split { $0 == UInt8(ascii: "\n") }.compactMap(Self.rule))
    }

    /// Whether a name is itself a public suffix.
    ///
    /// - Parameter domain: in lower case and ASCII; anything else is none. Of a single label only the list's are found.
    package func contains(_ domain: String) -> Bool {
        guard HostName.isValid(domain) else { return false }
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        let parents = labels.indices.map { labels[$0...].joined(separator: ".") }
        // An exception takes a name, and all below it, out of the rule with the asterisk.
        guard !parents.contains(where: { rules.contains("!\($0)") }) else { return false }
        return rules.contains(domain) || parents.dropFirst().first.map { rules.contains("*.\($0)") } == true
    }

    /// A rule ends at the first white space; its name may be written in Unicode.
    private static func rule(_ line: ArraySlice<UInt8>) -> String? {
        let line = line.prefix { $0 > UInt8(ascii: " ") }
        guard line.count <= longestRule, !line.starts(with: "//".utf8),
            let text = String(validating: line, as: UTF8.self)
        else { return nil }
        let mark = text.hasPrefix("!") ? "!" : text.hasPrefix("*.") ? "*." : ""
        let labels = text.dropFirst(mark.count).split(separator: ".", omittingEmptySubsequences: false)
        let name = labels.map { Punycode.label(String($0)) }.joined(separator: ".")
        return HostName.isValid(name) && !HostName.isAddress(name) ? mark + name : nil
    }
}
