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

    /// Whether there is a rule at all; reads no further than to the first.
    package static func hasRule(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            if rule(line) != nil { return true }
            rest = rest.dropFirst(line.count + 1)
        }
        return false
    }

    /// Whether a host may not have an RP ID, as in browsers (WebAuthn §5.1.2; HTML, "registrable domain suffix").
    ///
    /// The host itself is allowed. Of its parent domains its own public suffix is not, and what is above that.
    ///
    /// - Parameters:
    ///   - rpId: the host or a parent domain of it.
    ///   - host: in lower case and ASCII.
    package func forbids(rpId: String, of host: String) -> Bool {
        guard rpId != host, let suffix = publicSuffix(of: host) else { return false }
        return rpId == suffix || suffix.hasSuffix(".\(rpId)")
    }

    /// The longest public suffix that a name has or is; nil if no rule is about it.
    ///
    /// - Parameter domain: in lower case and ASCII; of anything else there is none.
    package func publicSuffix(of domain: String) -> String? {
        guard HostName.isValid(domain) else { return nil }
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        let parents = labels.indices.map { labels[$0...].joined(separator: ".") }
        // An exception takes a name, and all below it, out of the rule with the asterisk.
        if let excepted = parents.firstIndex(where: { rules.contains("!\($0)") }) {
            return excepted + 1 < parents.count ? parents[excepted + 1] : nil
        }
        return zip(parents, parents.dropFirst() + [""]).first { name, parent in
            rules.contains(name) || !parent.isEmpty && rules.contains("*.\(parent)")
        }?.0
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
