/// Where the payer goes back to after the decision: EMV 3-D Secure's threeDSRequestorAppURL.
///
/// It may go to another program's command line, so its form is narrow: an RFC 3986 URI of at most 256 bytes, in
/// plain ASCII, without a user or password, and never of a scheme that runs or reads something here.
package struct ThreeDSRequestorAppURL: Sendable, Equatable {
    /// Byte for byte as it came.
    package let text: String

    package init(_ text: String) throws(URLRefusal) {
        guard (1...256).contains(text.utf8.count) else { throw .length }
        guard text.utf8.allSatisfy(Self.isAllowed) else { throw .byte }
        guard let colon = text.firstIndex(of: ":") else { throw .scheme }
        let scheme = text[..<colon].utf8
        let rest = text[colon...].dropFirst()
        guard let first = scheme.first, first.isASCIILetter, scheme.allSatisfy(Self.isSchemeByte), !rest.isEmpty
        else { throw .scheme }
        let name = text[..<colon].lowercased()
        guard !Self.forbiddenSchemes.contains(name) else { throw .forbiddenScheme }
        guard !Self.hasUser(rest.utf8, scheme: name) else { throw .user }
        self.text = text
    }

    private static let forbiddenSchemes: Set<String> = ["javascript", "data", "file", "vbscript", "blob", "about"]

    /// The schemes for which browsers find a host after any number of slashes (WHATWG URL, "special").
    private static let specialSchemes: Set<String> = ["http", "https", "ws", "wss", "ftp"]

    /// Printable ASCII, without what RFC 3986 excludes and programs read in ways of their own.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: (0x21...0x7E).contains(byte)
        }
    }

    /// RFC 3986 §3.1.
    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || "+-.".utf8.contains(byte)
    }

    /// Whether there is an `@` in the authority (RFC 3986 §3.2), as a strict reader or a browser finds it.
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

/// Which rule a threeDSRequestorAppURL breaks.
package enum URLRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    case length, byte, scheme, forbiddenScheme, user

    /// The rest of a sentence that begins with the member's name.
    package var description: String {
        switch self {
        case .length: "is not 1 to 256 bytes long"
        case .byte: #"has a byte that is not printable ASCII, or is a space or one of " < > \ ^ ` { | }"#
        case .scheme: "does not begin with a scheme, a colon and something after it"
        case .forbiddenScheme: "has a scheme that is not allowed: javascript, data, file, vbscript, blob or about"
        case .user: "has a user or password before its host; none is allowed"
        }
    }
}
