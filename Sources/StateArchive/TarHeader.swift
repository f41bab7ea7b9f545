/// The block of 512 bytes that is before each entry of a tar, in pax(1)'s ustar format.
///
/// Only what a backup has: files and directories under names of at most 100 bytes of printable ASCII. A size of 8 GiB
/// or more is written as GNU tar writes it, in base 256.
struct TarHeader: Sendable, Equatable {
    enum Kind: UInt8, Sendable {
        case file = 0x30
        case directory = 0x35
    }

    static let blockSize = 512
    /// What 11 octal digits can say.
    private static let octalSizes: Range<Int64> = 0..<(1 << 33)
    private static let magic = Array("ustar\0".utf8) + Array("00".utf8)

    let name: String
    let kind: Kind
    /// Of the content, in bytes; 0 for a directory.
    let size: Int64

    init(name: String, kind: Kind = .file, size: Int64 = 0) {
        self.name = name
        self.kind = kind
        self.size = size
    }

    /// How many zero bytes are behind the content.
    var padding: Int { Int((Int64(Self.blockSize) - size % Int64(Self.blockSize)) % Int64(Self.blockSize)) }

    /// The fields and their places are those of pax(1), "ustar Interchange Format".
    ///
    /// - Parameter time: the time of last change, seconds since 1970.
    func bytes(time: Int64) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        func put(_ bytes: [UInt8], at place: Int) { block.replaceSubrange(place..<place + bytes.count, with: bytes) }
        put(Array(name.utf8), at: 0)
        put(Self.octal(kind == .file ? 0o600 : 0o700, digits: 7), at: 100)
        put(Self.octal(0, digits: 7), at: 108)
        put(Self.octal(0, digits: 7), at: 116)
        put(Self.octalSizes.contains(size) ? Self.octal(size, digits: 11) : Self.base256(size), at: 124)
        put(Self.octal(Self.octalSizes.contains(time) ? time : 0, digits: 11), at: 136)
        put([kind.rawValue], at: 156)
        put(Self.magic, at: 257)
        put(Self.octal(Self.checksum(block), digits: 6) + [0x20], at: 148)
        return block
    }

    /// Reads a block; nil unless it is a file or a directory as a backup has them.
    ///
    /// Links, devices, extensions and a wrong checksum are refused.
    init?(block: [UInt8]) {
        guard block.count == Self.blockSize, Array(block[257..<265]) == Self.magic,
            Self.number(block[148..<156]) == Self.checksum(block),
            let kind = Kind(rawValue: block[156]),
            // Neither a link's target nor a prefix of the name.
            block[157..<257].allSatisfy({ $0 == 0 }), block[345...].allSatisfy({ $0 == 0 }),
            let name = Self.text(block[0..<100]), let size = Self.number(block[124..<136]),
            kind == .file || size == 0
        else { return nil }
        self.init(name: name, kind: kind, size: size)
    }

    /// The sum of all bytes, with spaces in the place of the sum itself.
    private static func checksum(_ block: [UInt8]) -> Int64 {
        block.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 0x20 : Int64($1.element)) }
    }

    /// Digits with leading zeros, and a zero byte.
    private static func octal(_ number: Int64, digits: Int) -> [UInt8] {
        let text = String(number, radix: 8)
        return Array((String(repeating: "0", count: digits - text.utf8.count) + text).utf8) + [0]
    }

    private static func base256(_ number: Int64) -> [UInt8] {
        [0x80, 0, 0, 0] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0))) }
    }

    private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
        if field.first == 0x80 {
            let bytes = field.dropFirst()
            guard bytes.dropLast(8).allSatisfy({ $0 == 0 }), bytes.suffix(8).first ?? 0x80 < 0x80 else { return nil }
            return bytes.suffix(8).reduce(0) { $0 << 8 | Int64($1) }
        }
        let digits = field.prefix { (0x30...0x37).contains($0) }
        guard !digits.isEmpty, field.dropFirst(digits.count).allSatisfy({ $0 == 0 || $0 == 0x20 }) else { return nil }
        return digits.reduce(0) { $0 << 3 | Int64($1 - 0x30) }
    }

    private static func text(_ field: ArraySlice<UInt8>) -> String? {
        let bytes = field.prefix { $0 != 0 }
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            field.dropFirst(bytes.count).allSatisfy({ $0 == 0 })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
