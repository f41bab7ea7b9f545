import Keys
import Testing

@testable import WebAuthn

@Suite struct COSEKeyTests {
    /// The credential's public key at the end of §16.2's attestation object.
    static let encoded = hex(
        """
        a5010203262001215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61
        225820930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220
        """)
    static let x = Array(encoded[10..<42])
    static let y = Array(encoded[45..<77])

    @Test func `a key is read and written as in the W3C's example`() throws {
        let (key, consumed) = try COSEKey.decode(Self.encoded + [0xFF])
        #expect(consumed == 77)
        #expect(key.algorithm == .es256)
        #expect(key.x == Self.x)
        #expect(key.y == Self.y)
        #expect(COSEKey.encode(key) == Self.encoded)
    }

    @Test(arguments: [
        [1: 1, 3: -7, -1: 1, -2: .bytes(x), -3: .bytes(y)] as CBORMap,
        [1: 2, 3: -8, -1: 1, -2: .bytes(x), -3: .bytes(y)],
        [1: 2, 3: -7, -1: 2, -2: .bytes(x), -3: .bytes(y)],
        [1: 2, -1: 1, -2: .bytes(x), -3: .bytes(y)], [:],
    ])
    func `a key of another kind, algorithm or curve is not supported`(map: CBORMap) {
        #expect(throws: COSEKeyError.unsupported) { try COSEKey.decode(CBOR.map(map).encoded()) }
    }

    @Test(arguments: [
        [1: 2, 3: -7, -1: 1, -2: .bytes(x)] as CBORMap, [1: 2, 3: -7, -1: 1, -2: .bytes(x), -3: .bool(true)],
        [1: 2, 3: -7, -1: 1, -2: .bytes(x), -3: .bytes(Array(y.dropLast()))],
        [1: 2, 3: -7, -1: 1, -2: .bytes([0] + x), -3: .bytes(y)],
        [1: 2, 3: -7, -1: 1, -2: .bytes(x), -3: .bytes(y), 2: .bytes([1])],
    ])
    func `a key with other members than the five is refused`(map: CBORMap) {
        #expect(throws: COSEKeyError.members) { try COSEKey.decode(CBOR.map(map).encoded()) }
    }

    @Test func `what is no map is refused`() {
        #expect(throws: COSEKeyError.members) { try COSEKey.decode([0x80]) }
        #expect(throws: COSEKeyError.cbor(CBORError(offset: 0, reason: .truncated))) { try COSEKey.decode([]) }
    }

    @Test func `a point that is not on the curve is refused`() {
        #expect(throws: COSEKeyError.key(.notOnCurve)) { try COSEKey.decode(Self.encoded.flipping(-1)) }
    }
}
