/// SHA-256 digests in the form that sha256sum(1) prints.
package enum Hexadecimal {
    private static let digestBytes = 32
    private static let digits = Array("0123456789abcdef".utf8)

    package static func text(_ bytes: [UInt8]) -> String {
        unsafe String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (place, byte) in bytes.enumerated() {
                unsafe text[2 * place] = digits[Int(byte >> 4)]
                unsafe text[2 * place + 1] = digits[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }

    /// Returns whether a text has the digits of a digest.
    package static func isText(_ text: ArraySlice<UInt8>, of digest: [UInt8]) -> Bool {
        guard text.count == 2 * digest.count else { return false }
        var place = text.startIndex
        for byte in digest {
            guard text[place] == digits[Int(byte >> 4)], text[place + 1] == digits[Int(byte & 15)] else { return false }
            place += 2
        }
        return true
    }

    /// Returns the 32 bytes of 64 lower-case digits, or `nil` for any other text.
    package static func digest(_ text: String) -> [UInt8]? {
        guard text.utf8.count == 2 * digestBytes else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digestBytes)
        var high: UInt8?
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high { bytes.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        return bytes
    }
}
