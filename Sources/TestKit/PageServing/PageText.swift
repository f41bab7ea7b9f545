import StrictJSON
import TextAndTime

/// Text as a page shows it: what reorders or hides it is escaped, as in the agent's own text.
package enum PageText {
    package static func text(_ text: String?) -> String { DisplayText(text ?? "").text }

    /// With padding (RFC 4648 §4), as a `data:` URL has it.
    package static func base64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes)
        let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
    }

    /// Bytes of a text in HTML, with what a template escapes.
    package static func htmlBytes(_ text: String) -> Int {
        text.utf8.reduce(0) { count, byte in
            switch byte {
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "\""):
                count + 6
            default: count + 1
            }
        }
    }

    /// Text as HTML has it, also within an attribute's quotes.
    ///
    /// By scalars: a quotation mark that a combining mark follows is one character with it, and still ends an attribute.
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

    /// JSON with one member a line; the text itself if it is none.
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
