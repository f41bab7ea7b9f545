/// The schemes of return URLs that are opened or linked: `https`, and those that the user allows.
///
/// Any other may start a program of this machine with what a merchant wrote.
package struct OpenSchemes: Sendable, Equatable {
    /// The variable that allows more, separated by commas.
    package static let variable = "OOB_OPEN_SCHEMES"

    private let schemes: Set<String>

    /// - Parameter given: those of the flag `--open-scheme`; the variable adds to them.
    package init(_ given: [String] = [], environment: [String: String]) throws(ControlError) {
        let more = (environment[Self.variable] ?? "").split(separator: ",").map(String.init)
        schemes = Set(["https"] + (given + more).map { $0.lowercased() })
        for scheme in schemes where !Self.isScheme(scheme) {
            throw ControlError(
                .invalidArgument,
                "--open-scheme and \(Self.variable): \"\(scheme)\" is no scheme; one has letters, digits, + - . _ "
                    + "and begins with a letter.")
        }
    }

    /// Whether a URL may be opened, or be a link.
    package func allow(_ url: String) -> Bool { schemes.contains(Self.scheme(of: url)) }

    /// Returns what stands before the first colon, in lower case.
    package static func scheme(of url: String) -> String {
        String(decoding: url.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
    }

    /// RFC 3986, section 3.1, and `_`, as in the return URLs that are taken.
    private static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
