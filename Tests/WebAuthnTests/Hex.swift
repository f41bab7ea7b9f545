/// The bytes that hexadecimal digits stand for; whatever is no digit is passed over, so long figures can have lines.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension [UInt8] {
    /// As text, for comparisons that a person reads when they fail.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// With the bits of one byte flipped; a negative index counts from the end.
    func flipping(_ index: Int) -> [UInt8] {
        var copy = self
        copy[index < 0 ? count + index : index] ^= 0x01
        return copy
    }
}
