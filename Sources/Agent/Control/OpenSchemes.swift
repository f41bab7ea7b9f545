/// The URL schemes of return URLs that may be opened or linked: `https`, and schemes that the user allows.
///
/// A URL of any other scheme may start a program on this machine with text that a merchant wrote.
package struct OpenSchemes: Sendable, Equatable {
    /// The environment variable that allows more schemes, separated by commas.
    package static let variable = "OOB_OPEN_SCHEMES"

    private let schemes: Set<String>

    /// - Parameter given: the schemes of the flag `--open-scheme`. The variable adds to them.
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

    /// Returns whether a URL may be opened or linked.
    package func allow(_ url: String) -> Bool { schemes.contains(Self.scheme(of: url)) }

    /// Returns the text before the first colon, in lower case.
    package static func scheme(of url: String) -> String {
        String(decoding: url.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
    }

    /// Returns whether a text is a scheme: RFC 3986 §3.1, and `_`, which return URLs may have.
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
