extension JSONValue {
    /// Returns compact JSON (RFC 8259), with members in their order.
    ///
    /// Only `"`, `\` and U+0000 to U+001F are escaped: the five that have a short form with it, the others as `\u00xx`
    /// with lower-case digits. All other text is raw UTF-8.
    package func serialized() -> [UInt8] {
        var output: [UInt8] = []
        write(to: &output)
        return output
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let flag): output += (flag ? "true" : "false").utf8
        case .number(let lexeme): output += lexeme.utf8
        case .string(let text): JSONText.write(text, to: &output)
        case .array(let elements):
            JSONText.write(elements, between: "[", "]", to: &output) { $0.write(to: &$1) }
        case .object(let object):
            JSONText.write(object.members, between: "{", "}", to: &output) { member, output in
                JSONText.write(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
        }
    }
}

extension JSONObject {
    /// Returns compact JSON, as `JSONValue.serialized()` does.
    package func serialized() -> [UInt8] { JSONValue.object(self).serialized() }
}

/// The common part of both JSON writers.
enum JSONText {
    /// Returns whether a byte of a string needs no escape.
    static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        // Nearly every text needs no escape.
        let isWritten = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            guard unsafe bytes.allSatisfy(isPlain) else { return false }
            unsafe output.append(contentsOf: bytes)
            return true
        }
        if isWritten != true { writeEscaping(text, to: &output) }
        output.append(UInt8(ascii: "\""))
    }

    private static func writeEscaping(_ text: String, to output: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): output += "\\\"".utf8
            case UInt8(ascii: "\\"): output += "\\\\".utf8
            case 0x08: output += "\\b".utf8
            case 0x09: output += "\\t".utf8
            case 0x0A: output += "\\n".utf8
            case 0x0C: output += "\\f".utf8
            case 0x0D: output += "\\r".utf8
            case 0x00...0x0F: output += "\\u000\(String(byte, radix: 16))".utf8
            case 0x10...0x1F: output += "\\u00\(String(byte, radix: 16))".utf8
            default: output.append(byte)
            }
        }
    }

    static func write<Element, Failure: Error>(
        _ elements: [Element], between open: Unicode.Scalar, _ close: Unicode.Scalar, to output: inout [UInt8],
        each: (Element, inout [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        output.append(UInt8(ascii: open))
        for (index, element) in elements.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            try each(element, &output)
        }
        output.append(UInt8(ascii: close))
    }
}
