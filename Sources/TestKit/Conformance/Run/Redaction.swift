/// A filter that removes known secrets from a text: verbatim, URL-encoded, or escaped as in JSON.
package struct Redaction: Sendable {
    /// The secrets by a hash of their first three bytes, the longest first.
    private var secrets: [Int: [[UInt8]]] = [:]
    /// The secrets by their first byte, for a text that is cut within its last secret.
    private var byFirst: [UInt8: [[UInt8]]] = [:]

    init(_ values: some Sequence<[UInt8]>) {
        for value in values.sorted(by: { $0.count > $1.count }) where value.count >= KnownSecrets.shortest {
            secrets[Self.fold(value[0], value[1], value[2]), default: []].append(value)
            byFirst[value[0], default: []].append(value)
        }
    }

    func redacted(_ text: String) -> String { redacted(Excerpt(text: text, left: 0)).text }

    /// Removes the secrets; from a cut text also the beginning of a secret at its end.
    func redacted(_ excerpt: Excerpt) -> Excerpt {
        guard !secrets.isEmpty else { return excerpt }
        let (bytes, isCut) = (Array(excerpt.text.utf8), excerpt.left > 0)
        var (result, copied, at): ([UInt8], Int, Int) = ([], 0, 0)
        while at < bytes.count {
            guard let end = secretEnd(in: bytes, at: at, isCut: isCut) else {
                at += 1
                continue
            }
            // The replacement is never longer than the secret, so the text does not grow.
            result += bytes[copied..<at] + (end - at >= 10 ? "(redacted)" : "***").utf8
            (at, copied) = (end, end)
        }
        guard copied > 0 else { return excerpt }
        return Excerpt(text: String(decoding: result + bytes[copied...], as: UTF8.self), left: excerpt.left)
    }

    /// Returns the end of a secret that begins at a position, or `nil` if none does.
    private func secretEnd(in bytes: [UInt8], at start: Int, isCut: Bool) -> Int? {
        if isCut, bytes.count - start < 3 * EscapedByte.longest {
            let first = [bytes[start]] + (EscapedByte(bytes, at: start)?.bytes.prefix(1) ?? [])
            for secret in first.flatMap({ byFirst[$0] ?? [] }) {
                if let end = Self.end(of: secret, in: bytes, at: start, isCut: true) { return end }
            }
        }
        let nearest = bytes[start..<min(start + 3, bytes.count)]
        let isEscaped = nearest.contains(where: EscapedByte.begins)
        for decodes in isEscaped ? [true, false] : [false] {
            guard let fold = Self.fold(bytes, at: start, decodes: decodes) else { continue }
            for secret in secrets[fold] ?? [] {
                if let end = Self.end(of: secret, in: bytes, at: start, isCut: isCut) { return end }
            }
        }
        return nil
    }

    /// Returns the end of a given secret at a position, in any of its forms.
    private static func end(of secret: [UInt8], in bytes: [UInt8], at start: Int, isCut: Bool) -> Int? {
        var (at, done) = (start, 0)
        while done < secret.count {
            guard at < bytes.count else { return isCut ? at : nil }
            if let escaped = EscapedByte(bytes, at: at), secret[done...].starts(with: escaped.bytes) {
                at = escaped.end
                done += escaped.bytes.count
            } else if bytes[at] == secret[done] {
                at += 1
                done += 1
            } else {
                let mayBeEscape = isCut && done > 0 && EscapedByte.begins(with: bytes[at])
                return mayBeEscape && bytes.count - at < EscapedByte.longest ? bytes.count : nil
            }
        }
        return at
    }

    private static func fold(_ bytes: [UInt8], at start: Int, decodes: Bool) -> Int? {
        var (first, at): ([UInt8], Int) = ([], start)
        while first.count < 3 {
            guard at < bytes.count else { return nil }
            if decodes, let escaped = EscapedByte(bytes, at: at) {
                first += escaped.bytes
                at = escaped.end
            } else {
                first.append(bytes[at])
                at += 1
            }
        }
        return fold(first[0], first[1], first[2])
    }

    private static func fold(_ a: UInt8, _ b: UInt8, _ c: UInt8) -> Int { Int(a) << 16 | Int(b) << 8 | Int(c) }
}

/// An escape sequence for a byte or for the bytes of a scalar: `%41`, `\u0041`, `\/`.
private struct EscapedByte {
    static let longest = 6

    let bytes: [UInt8]
    let end: Int

    static func begins(with byte: UInt8) -> Bool { byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") }

    init?(_ text: [UInt8], at start: Int) {
        guard start + 1 < text.count, Self.begins(with: text[start]) else { return nil }
        if text[start] == UInt8(ascii: "%") {
            guard let number = Self.number(text, start + 1, 2) else { return nil }
            (bytes, end) = ([UInt8(truncatingIfNeeded: number)], start + 3)
        } else if text[start + 1] == UInt8(ascii: "u") {
            guard let number = Self.number(text, start + 2, 4), let scalar = Unicode.Scalar(number) else { return nil }
            (bytes, end) = (Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter), start + 6)
        } else if [UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "\"")].contains(text[start + 1]) {
            (bytes, end) = ([text[start + 1]], start + 2)
        } else {
            return nil
        }
    }

    private static func number(_ text: [UInt8], _ start: Int, _ digits: Int) -> UInt32? {
        guard start + digits <= text.count else { return nil }
        var number: UInt32 = 0
        for byte in text[start..<start + digits] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            number = number << 4 | UInt32(digit)
        }
        return number
    }
}
