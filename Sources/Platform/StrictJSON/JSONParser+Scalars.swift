import TextAndTime

// Numbers (RFC 8259 §6) and strings (§7).
extension JSONParser {
    /// Reads the lexeme of a number: `[ "-" ] int [ frac ] [ exp ]`.
    mutating func number() throws(JSONError) -> String {
        let start = position
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Reads one or more digits.
    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw syntax("a digit") }
    }

    mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        position = endOfPlain(from: start)
        // Nearly every string has no escapes.
        if peek == UInt8(ascii: "\"") {
            let text = try text(of: bytes.span.extracting(start..<position))
            position += 1
            return text
        }
        var content = Array(bytes[start..<position])
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                let text = try text(of: content.span)
                position += 1
                return text
            case UInt8(ascii: "\\"):
                content += try escape().utf8
            case 0x00...0x1F:
                throw syntax("no control character in a string")
            default:
                let end = endOfPlain(from: position)
                content += bytes[position..<end]
                position = end
            }
        }
        throw syntax("'\"'")
    }

    /// Returns the end of the bytes of a string that are not escapes.
    private func endOfPlain(from start: Int) -> Int {
        let bytes = bytes.span
        var end = start
        while end < bytes.count, JSONText.isPlain(bytes[end]) { end += 1 }
        return end
    }

    private func text(of content: Span<UInt8>) throws(JSONError) -> String {
        guard let text = String(strictUTF8: content) else { throw error(.notUTF8) }
        return text
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        position += 1
        guard let byte = peek else { throw syntax("an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw syntax("an escape")
        }
    }

    /// Reads the rest of an escape after `\u`: four hexadecimal digits, or eight for a surrogate pair.
    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, skip("\\"), skip("u") else { throw syntax("a surrogate pair") }
        let second = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw syntax("a surrogate pair") }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw syntax("four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
