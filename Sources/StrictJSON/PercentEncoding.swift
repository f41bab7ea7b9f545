/// Percent-encoding of RFC 3986 §2.1.
package enum PercentEncoding {
    /// All but the unreserved octets of §2.3 encoded, so the result is one path segment or one query value.
    package static func encode(_ text: String) -> String {
        var result = ""
        for octet in text.utf8 {
            if isUnreserved(octet) {
                result.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                result += "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// The octets that a text stands for; nil where a `%` is not followed by two hexadecimal digits.
    package static func decode(_ text: String) -> [UInt8]? {
        var octets: [UInt8] = []
        var rest = text.utf8[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                return nil
            }
            octets.append(high << 4 | low)
        }
        return octets
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func hexDigit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
