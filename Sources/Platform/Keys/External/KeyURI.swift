import TextAndTime

/// The place of a key that this program did not make.
///
/// It contains no secret: it is stored, shown and logged without change.
package struct KeyURI: Sendable, Equatable {
    /// The most bytes of a URI.
    package static let maxBytes = 1_024

    /// The place that the scheme and the rest of a URI name.
    package enum Place: Sendable, Equatable {
        /// `file:`: the absolute path of a private key's file, or of a TPM key's file ("TSS2 PRIVATE KEY").
        case file(path: String)
        /// `handle:`: a persistent object of the TPM.
        case tpm(PersistentHandle)
        /// `pkcs11:`: an object on a token.
        case token(TokenKeyName)
    }

    /// The URI without change.
    package let text: String
    package let place: Place

    /// Reads `file:` (RFC 8089) with an absolute path, `handle:0x81…` and `pkcs11:` (RFC 7512).
    package init(_ text: String) throws(KeyURIError) {
        guard 1...Self.maxBytes ~= text.utf8.count, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw KeyURIError("a key URI has 1 to \(Self.maxBytes) visible ASCII characters; escape others as %XX")
        }
        guard let colon = text.firstIndex(of: ":") else { throw .unknownScheme }
        let rest = text[text.index(after: colon)...]
        switch text[..<colon].lowercased() {
        case "file": place = .file(path: try Self.path(rest))
        case "handle": place = .tpm(try PersistentHandle(rest))
        case "pkcs11": place = .token(try TokenKeyName(rest))
        default: throw .unknownScheme
        }
        self.text = text
    }

    /// Returns whether two URIs name the same key, if both name keys of the same place.
    ///
    /// On a token, the label or the id must be equal, and neither may differ.
    package func namesKey(of other: KeyURI) -> Bool {
        guard case .token(let one) = place, case .token(let two) = other.place else { return true }
        let parts = [(one.label, two.label), (one.id, two.id)]
        guard !parts.contains(where: { $0 != nil && $1 != nil && $0 != $1 }) else { return false }
        return parts.contains { $0 != nil && $0 == $1 }
    }

    private static func path(_ rest: Substring) throws(KeyURIError) -> String {
        guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw KeyURIError("a file: URI has no ? and no #; escape them in the path as %3F and %23")
        }
        let path = rest.hasPrefix("//") ? rest.dropFirst(2) : rest
        guard path.hasPrefix("/"), !path.hasPrefix("//") else {
            throw KeyURIError("a file: URI has an absolute path: file:/path/of/key.pem")
        }
        guard let bytes = PercentEncoding.decode(String(path)), !bytes.contains(0) else {
            throw KeyURIError("a file: URI escapes a byte as % and two hexadecimal digits, and has no zero byte")
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw KeyURIError("the path of a file: URI is UTF-8")
        }
        return decoded
    }
}

/// A persistent object of a TPM 2.0: 0x81000000 to 0x81FFFFFF (TPM 2.0 Library, Part 2, "Handles").
package struct PersistentHandle: Sendable, Equatable {
    package let number: UInt32

    /// Reads `0x` and eight hexadecimal digits.
    init(_ text: Substring) throws(KeyURIError) {
        guard text.hasPrefix("0x"), text.utf8.count == 10, let number = UInt32(text.dropFirst(2), radix: 16),
            number >> 24 == 0x81
        else {
            throw KeyURIError("a handle: URI names a persistent object of the TPM: handle:0x81000000 to 0x81ffffff")
        }
        self.number = number
    }
}

/// The error in a text that should be the URI of a key, with the allowed form.
package struct KeyURIError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    static let unknownScheme = KeyURIError(
        "a key URI begins with file: (a key file, or a TSS2 file of the TPM), handle: (a persistent TPM key) or "
            + "pkcs11: (a key on a token)")
}
