import StrictJSON
import TextAndTime

/// Text for a page: characters that reorder or hide text are escaped, as in the agent's own text.
package enum PageText {
    package static func text(_ text: String?) -> String { DisplayText(text ?? "").text }

    /// Encodes bytes in Base64 with padding (RFC 4648 §4), for a `data:` URL.
    package static func base64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes)
        let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
    }

    /// Returns the most bytes that a text can have as escaped HTML.
    package static func htmlBytes(_ text: String) -> Int {
        text.utf8.reduce(0) { count, byte in
            switch byte {
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "\""):
                count + 6
            default: count + 1
            }
        }
    }

    /// Escapes text for HTML, including attribute values in quotes.
    ///
    /// It goes by scalars: a quotation mark ends an attribute even before a combining mark, with which it is one
    /// Character.
    package static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    /// Formats JSON of at most 64 KiB with one member a line.
    ///
    /// In larger JSON and in other text, characters are only escaped.
    package static func json(_ bytes: [UInt8]) -> String {
        guard let value = try? JSONReader.value(bytes, limits: JSONLimits(maxBytes: 65_536)) else {
            return text(String(decoding: bytes, as: UTF8.self))
        }
        return ShownJSON.escaped(lines(of: value, indent: ""))
    }

    private static func lines(of value: JSONValue, indent: String) -> String {
        let inner = indent + "  "
        switch value {
        case .object(let object) where !object.members.isEmpty:
            let members = object.members.map { member in
                "\(inner)\(scalar(.string(member.name))): \(lines(of: member.value, indent: inner))"
            }
            return "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
        case .array(let elements) where !elements.isEmpty:
            return "[\n\(elements.map { inner + lines(of: $0, indent: inner) }.joined(separator: ",\n"))\n\(indent)]"
        default: return scalar(value)
        }
    }

    private static func scalar(_ value: JSONValue) -> String { String(decoding: value.serialized(), as: UTF8.self) }
}
