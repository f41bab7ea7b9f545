/// The value of an `Authorization` field (RFC 9110 §11.4): a scheme and parameters.
struct AuthorizationParameters {
    /// The maximum length of a field that is read, in bytes.
    static let limit = 4_096

    /// The scheme in lower case: schemes are compared without regard to case.
    let scheme: String
    /// The bytes after the scheme.
    private let rest: ArraySlice<UInt8>

    /// Parses the scheme.
    ///
    /// Returns `nil` if the field is too long or does not begin with a scheme.
    init?(_ field: String) {
        guard field.utf8.count <= Self.limit else { return nil }
        var reader = FieldReader(rest: Array(field.utf8)[...])
        guard let scheme = reader.token(), reader.rest.first ?? FieldReader.space == FieldReader.space else {
            return nil
        }
        self.scheme = scheme.lowercased()
        rest = reader.rest
    }

    /// Returns the parameters by their names in lower case.
    ///
    /// `nil` if they are malformed or a name appears twice (§11.2). Their order is free, and a value is a token or a
    /// quoted string. Empty elements of the list are skipped (§5.6.1.2).
    func parameters() -> [String: String]? {
        var reader = FieldReader(rest: rest)
        var parameters: [String: String] = [:]
        while true {
            reader.skip(FieldReader.space, FieldReader.tab, FieldReader.comma)
            guard !reader.rest.isEmpty else { return parameters }
            guard let (name, value) = reader.parameter(), parameters.updateValue(value, forKey: name) == nil else {
                return nil
            }
            reader.skip(FieldReader.space, FieldReader.tab)
            guard reader.rest.first ?? FieldReader.comma == FieldReader.comma else { return nil }
        }
    }
}

/// Parser of an HTTP field's value, byte by byte (RFC 9110 §5.6).
private struct FieldReader {
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")
    static let comma = UInt8(ascii: ",")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let signs = Array("!#$%&'*+-.^_`|~".utf8)

    private(set) var rest: ArraySlice<UInt8>

    mutating func skip(_ bytes: UInt8...) {
        rest = rest.drop { bytes.contains($0) }
    }

    /// Reads a token (§5.6.2).
    mutating func token() -> String? {
        let token = rest.prefix(while: Self.isTokenCharacter)
        rest = rest.dropFirst(token.count)
        return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }

    /// Reads a parameter (§11.2): name, `=` with or without blanks around it, value.
    mutating func parameter() -> (name: String, value: String)? {
        guard let name = token() else { return nil }
        skip(Self.space, Self.tab)
        guard rest.popFirst() == UInt8(ascii: "=") else { return nil }
        skip(Self.space, Self.tab)
        guard let value = rest.first == Self.quote ? quotedString() : token() else { return nil }
        return (name.lowercased(), value)
    }

    /// Reads a quoted string (§5.6.4), and returns it without quotes and backslashes.
    private mutating func quotedString() -> String? {
        var content: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case Self.quote: return String(decoding: content, as: UTF8.self)
            case Self.backslash:
                guard let quoted = rest.popFirst() else { return nil }
                content.append(quoted)
            default: content.append(byte)
            }
        }
        return nil
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: signs.contains(byte)
        }
    }
}
