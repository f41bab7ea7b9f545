/// Base64url (RFC 4648 §5) without padding, with one encoding for each value.
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of a byte outside of the alphabet.
    private static let foreign: UInt8 = 0x80

    /// The value of each byte as a character.
    ///
    /// It is a table, because encrypted columns are read at every step of a request.
    private static let values = {
        var values = [UInt8](repeating: foreign, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    package static func encode(_ bytes: [UInt8]) -> String {
        let rest = bytes.count % 3
        return unsafe String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { output in
            var count = 0
            unsafe alphabet.withUnsafeBufferPointer { alphabet in
                func put(_ bits: UInt32) {
                    unsafe output[count] = alphabet[Int(bits & 0x3F)]
                    count += 1
                }
                for index in stride(from: 0, to: bytes.count - rest, by: 3) {
                    let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
                    put(group >> 18)
                    put(group >> 12)
                    put(group >> 6)
                    put(group)
                }
                guard rest > 0 else { return }
                let second = rest == 2 ? UInt32(bytes[bytes.count - 1]) : 0
                let group = UInt32(bytes[bytes.count - rest]) << 16 | second << 8
                put(group >> 18)
                put(group >> 12)
                if rest == 2 { put(group >> 6) }
            }
            return count
        }
    }

    /// Decodes a text, or returns `nil` if it is not the encoding of a value.
    ///
    /// That is padding, whitespace, any other foreign character, an impossible length, or trailing bits other than 0.
    package static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { unsafe decode($0) }
    }

    /// Decodes the bytes of a text in the same way.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        unsafe text.withUnsafeBufferPointer { unsafe decode($0) }
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        // A foreign character anywhere is found by one check at the end.
        var seen: UInt8 = 0
        var trailing: UInt32 = 0
        let output = unsafe [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { output, count in
            unsafe values.withUnsafeBufferPointer { values in
                func bits(_ index: Int) -> UInt32 {
                    let value = unsafe values[Int(text[index])]
                    seen |= value
                    return UInt32(value)
                }
                func put(_ bits: UInt32) {
                    unsafe output[count] = UInt8(truncatingIfNeeded: bits)
                    count += 1
                }
                let end = text.count - rest
                for index in stride(from: 0, to: end, by: 4) {
                    let group = bits(index) << 18 | bits(index + 1) << 12 | bits(index + 2) << 6 | bits(index + 3)
                    put(group >> 16)
                    put(group >> 8)
                    put(group)
                }
                guard rest > 0 else { return }
                let group = bits(end) << 18 | bits(end + 1) << 12 | (rest == 3 ? bits(end + 2) << 6 : 0)
                put(group >> 16)
                if rest == 3 { put(group >> 8) }
                trailing = group & (rest == 3 ? 0xFF : 0xFFFF)
            }
        }
        return seen < foreign && trailing == 0 ? output : nil
    }

    /// Returns whether a byte is in the alphabet; ids have no other bytes.
    package static func isCharacter(_ byte: UInt8) -> Bool { values[Int(byte)] != foreign }
}
