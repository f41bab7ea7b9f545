/// The escapes of a URI (RFC 3986 §2.1).
enum PercentEncoding {
    /// The octets that a text stands for; nil where a % is not followed by two hexadecimal digits.
    static func decode(_ text: Substring) -> [UInt8]? {
        var octets: [UInt8] = []
        var rest = text.utf8[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal) else {
                return nil
            }
            octets.append(high << 4 | low)
        }
        return octets
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8? {
        Character(UnicodeScalar(digit)).hexDigitValue.map(UInt8.init)
    }
}
