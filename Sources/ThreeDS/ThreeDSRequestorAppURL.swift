/// Where the payer goes back to after the decision: EMV 3-D Secure's threeDSRequestorAppURL.
///
/// It may go to another program's command line, so its form is narrow: an RFC 3986 URI of at most 256 bytes, in
/// plain ASCII, without a user or password, and never of a scheme that runs or reads something here. A scheme may also
/// have `_`, as the schemes of apps for Android do.
package struct ThreeDSRequestorAppURL: Sendable, Equatable {
    /// Byte for byte as it came.
    package let text: String

    package init(_ text: String) throws(URLRefusal) {
        guard (1...256).contains(text.utf8.count) else { throw .length }
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { throw .notASCII }
        guard text.utf8.allSatisfy(Self.isAllowed) else { throw .byte }
        guard let colon = text.firstIndex(of: ":") else { throw .scheme }
        let scheme = text[..<colon].utf8
        let rest = text[colon...].dropFirst()
        guard let first = scheme.first, first.isASCIILetter, scheme.allSatisfy(Self.isSchemeByte) else { throw .scheme }
        let name = text[..<colon].lowercased()
        guard !rest.isEmpty || !Self.specialSchemes.contains(name) else { throw .scheme }
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

    /// RFC 3986 §3.1, and `_`.
    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || "+-._".utf8.contains(byte)
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
    case length, notASCII, byte, scheme, forbiddenScheme, user

    /// The rest of a sentence that begins with the member's name.
    package var description: String {
        switch self {
        case .length: "is not 1 to 256 bytes long"
        case .notASCII: "has a character that is not ASCII: write ö as %C3%B6, and a host of other letters as xn--…"
        case .byte:
            #"has a control character, a space or one of " < > \ ^ ` { | }: fill in what is a template, such as {id}, "#
                + "and write any other as % and two hexadecimal digits"
        case .scheme: "does not begin with a scheme and a colon, and for http: and the like something after it"
        case .forbiddenScheme: "has a scheme that is not allowed: javascript, data, file, vbscript, blob or about"
        case .user: "has a user or password before its host; none is allowed"
        }
    }
}
