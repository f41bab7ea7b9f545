import TextAndTime

/// The URL to which the payer returns after the decision: EMV 3-D Secure's threeDSRequestorAppURL.
///
/// It may become an argument of another program, so its form is narrow: at most 256 bytes of the ASCII characters that
/// RFC 3986 allows, without a user or password, and not of a scheme that runs or reads something on this machine. A
/// scheme may also have `_`, because schemes of Android apps have it.
package struct ThreeDSRequestorAppURL: Sendable, Equatable {
    /// The URL, byte for byte as received.
    package let text: String

    package init(_ text: String) throws(URLRefusal) {
        guard (1...256).contains(text.utf8.count) else { throw .length }
        if let other = text.unicodeScalars.first(where: { !$0.isASCII }) { throw .notASCII(other) }
        if let byte = text.utf8.first(where: { !Self.isAllowed($0) }) { throw .byte(byte) }
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { throw .scheme }
        let scheme = text[..<colon].utf8
        let rest = text[colon...].dropFirst()
        guard scheme.first?.isASCIILetter == true, scheme.allSatisfy(Self.isSchemeByte) else { throw .schemeForm }
        let name = text[..<colon].lowercased()
        guard !Self.forbiddenSchemes.contains(name) else { throw .forbiddenScheme }
        guard !Self.hasUser(rest.utf8, scheme: name) else { throw .user }
        guard !Self.specialSchemes.contains(name) || Self.namesHost(rest.utf8) else { throw .host }
        self.text = text
    }

    private static let forbiddenSchemes: Set<String> = ["javascript", "data", "file", "vbscript", "blob", "about"]

    /// The schemes for which browsers accept any number of slashes before the host (WHATWG URL, "special").
    private static let specialSchemes: Set<String> = ["http", "https", "ws", "wss", "ftp"]

    /// Returns whether a byte is printable ASCII that RFC 3986 does not exclude.
    ///
    /// Programs read the excluded bytes in different ways.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: (0x21...0x7E).contains(byte)
        }
    }

    /// Returns whether a byte may be part of a scheme: RFC 3986 §3.1, and `_`.
    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || "+-._".utf8.contains(byte)
    }

    /// Returns whether two slashes and a host follow the colon (RFC 9110 §4.2.2).
    ///
    /// A browser reads anything less as a location relative to its current page.
    private static func namesHost(_ rest: Substring.UTF8View) -> Bool {
        guard rest.starts(with: "//".utf8), let first = rest.dropFirst(2).first else { return false }
        return !"/?#:".utf8.contains(first)
    }

    /// Returns whether the authority (RFC 3986 §3.2) has an `@`, as a strict reader or a browser finds it.
    private static func hasUser(_ rest: Substring.UTF8View, scheme: String) -> Bool {
        let slash = UInt8(ascii: "/")
        let authority: Substring.UTF8View
        if specialSchemes.contains(scheme) {
            authority = rest.drop { $0 == slash }
        } else if rest.prefix(2).elementsEqual([slash, slash]) {
            authority = rest.dropFirst(2)
        } else {
            return false
        }
        return authority.prefix { $0 != slash && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            .contains(UInt8(ascii: "@"))
    }
}

/// The rule that a threeDSRequestorAppURL breaks.
package enum URLRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    case length
    /// Its first character that is not ASCII.
    case notASCII(Unicode.Scalar)
    /// Its first byte that is ASCII and not allowed.
    case byte(UInt8)
    /// The scheme is missing.
    case scheme
    case schemeForm, forbiddenScheme, user
    /// The host is missing, and the scheme is a web scheme.
    case host

    /// The rest of a sentence that begins with the member's name.
    package var description: String {
        switch self {
        case .length: "is not 1 to 256 bytes long"
        case .notASCII(let scalar):
            "has \(DisplayText(String(scalar)).text), which is not ASCII: write it as \(Self.encoded(String(scalar).utf8)), "
                + "or in a host the whole host as xn--…"
        case .byte(let byte):
            "has \(Self.name(of: byte)): "
                + (byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
                    ? "fill in what is a template, such as {id}" : "write it as \(Self.encoded([byte]))")
        case .scheme: "does not begin with a scheme and a colon"
        case .schemeForm: "has a scheme that is none: it begins with a letter, and has letters, digits, +, -, . and _"
        case .forbiddenScheme: "has a scheme that is not allowed: javascript, data, file, vbscript, blob or about"
        case .user: "has a user or password before its host; none is allowed"
        case .host: "names no host: after http:, https:, ws:, wss: and ftp: come // and a host"
        }
    }

    private static func name(of byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: " "): "a space"
        case 0x21...0x7E: String(Unicode.Scalar(byte))
        default: "a control character"
        }
    }

    /// Percent-encodes bytes (RFC 3986 §2.1).
    private static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return (digits.utf8.count < 2 ? "%0" : "%") + digits
        }.joined()
    }
}
