/// The public suffixes (publicsuffix.org): domains below which anyone may get a name, such as `co.uk` or `github.io`.
///
/// Both parts of the list count, as in browsers: the registries' (ICANN) and the private one.
package struct PublicSuffixList: Sendable {
    /// The longest rule with its mark, in bytes: a name has 253 at most.
    private static let longestRule = 255

    /// The list as it is published: one rule a line, `//` before a comment.
    private let bytes: [UInt8]

    /// Takes the list as it is published; a line that is no rule counts for nothing.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether there is a rule at all; reads no further than to the first.
    package var hasRule: Bool { hasLine { Self.rule($0) != nil } }

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
        let rules = rules(below: labels.last ?? "")
        // An exception takes a name, and all below it, out of the rule with the asterisk.
        if let excepted = parents.firstIndex(where: { rules.contains("!\($0)") }) {
            return excepted + 1 < parents.count ? parents[excepted + 1] : nil
        }
        return zip(parents, parents.dropFirst() + [""]).first { name, parent in
            rules.contains(name) || !parent.isEmpty && rules.contains("*.\(parent)")
        }?.0
    }

    /// The rules for names below a top-level domain: in ASCII, with their marks, such as `co.uk`, `*.ck`, `!www.ck`.
    ///
    /// An enrollment asks once, so it makes texts of these rules alone: a set of all 9,500 took 25 ms of the 30 ms of
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

    /// Whether a line meets the condition; a line ends at its first white space.
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

    /// A rule's name may be written in Unicode.
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
