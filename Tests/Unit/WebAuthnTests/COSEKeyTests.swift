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
    /// That of §16.8.
    static let encoded384 = hex(
        """
        a5010203382220022158304866bd8b01da789e9eb806e5eab05ae5a638542296ab057a2f1bbce9b58f8a08b9171390b58a37ac
        7fffc2c5f45857da2258302a0b024c7f4b72072a1f96bd30a7261aae9571dd39870eb29e55c0941c6b08e89629a1ea1216aa64
        ce57c2807bf3901a
        """)
    static let x384 = Array(encoded384[11..<59])
    static let y384 = Array(encoded384[62..<110])
    /// That of §16.11.
    static let encoded25519 = hex(
        "a401010327200621582044e06ddd331c36a8dc667bab52bcae63486c916aa5e339e6acebaa84934bf832")
    static let point = Array(encoded25519[10..<42])

    @Test(arguments: [
        (encoded, PublicKeyMaterial.p256(x: x, y: y)), (encoded384, .p384(x: x384, y: y384)),
        (encoded25519, .ed25519(point)),
    ])
    func `a key is read and written as in the W3C's examples`(encoded: [UInt8], material: PublicKeyMaterial) throws {
        let (key, consumed) = try COSEKey.decode(encoded + [0xFF])
        #expect(consumed == encoded.count)
        #expect(key.material == material)
        #expect(COSEKey.encode(key) == encoded)
    }

    @Test(arguments: [
        [1: 1, 3: -7, -1: 1, -2: .bytes(x), -3: .bytes(y)] as CBORMap,
        [1: 2, 3: -8, -1: 1, -2: .bytes(x), -3: .bytes(y)],
        [1: 2, 3: -7, -1: 2, -2: .bytes(x), -3: .bytes(y)],
        [1: 2, 3: -7, -1: 2, -2: .bytes(x384), -3: .bytes(y384)],
        [1: 2, 3: -35, -1: 1, -2: .bytes(x), -3: .bytes(y)],
        [1: 2, 3: -35, -1: 3, -2: .bytes(x384), -3: .bytes(y384)],
        [1: 1, 3: -35, -1: 2, -2: .bytes(x384), -3: .bytes(y384)],
        [1: 2, 3: -8, -1: 6, -2: .bytes(point)], [1: 1, 3: -8, -1: 4, -2: .bytes(point)],
        [1: 1, 3: -8, -1: 7, -2: .bytes(point)], [1: 1, 3: -19, -1: 6, -2: .bytes(point)],
        [1: 2, 3: -36, -1: 3, -2: .bytes(x384), -3: .bytes(y384)],
        [1: 2, -1: 1, -2: .bytes(x), -3: .bytes(y)], [:],
    ])
    func `a key of another kind, algorithm or curve is not supported`(map: CBORMap) {
        #expect(throws: COSEKeyError.unsupported) { try COSEKey.decode(CBOR.map(map).encoded()) }
    }

    @Test(arguments: [
        [1: 2, 3: -7, -1: 1, -2: .bytes(x)] as CBORMap, [1: 2, 3: -7, -1: 1, -2: .bytes(x), -3: .bool(true)],
        [1: 2, 3: -7, -1: 1, -2: .bytes(x), -3: .bytes(y), 2: .bytes([1])],
        [1: 2, 3: -35, -1: 2, -2: .bytes(x384)],
        [1: 2, 3: -35, -1: 2, -2: .bytes(x384), -3: .bytes(y384), 2: .bytes([1])],
        [1: 1, 3: -8, -1: 6], [1: 1, 3: -8, -1: 6, -2: .bool(true)], [1: 1, 3: -8, -1: 6, -3: .bytes(point)],
        [1: 1, 3: -8, -1: 6, -2: .bytes(point), -3: .bytes(point)],
        [1: 1, 3: -8, -1: 6, -2: .bytes(point), 2: .bytes([1])],
        // The private half.
        [1: 1, 3: -8, -1: 6, -2: .bytes(point), -4: .bytes(point)],
    ])
    func `a key with other members than its kind's is refused`(map: CBORMap) {
        #expect(throws: COSEKeyError.members) { try COSEKey.decode(CBOR.map(map).encoded()) }
    }

    @Test(arguments: [
        [1: 2, 3: -7, -1: 1, -2: .bytes(x), -3: .bytes(Array(y.dropLast()))] as CBORMap,
        [1: 2, 3: -7, -1: 1, -2: .bytes([0] + x), -3: .bytes(y)],
        [1: 2, 3: -7, -1: 1, -2: .bytes(x384), -3: .bytes(y384)],
        [1: 2, 3: -35, -1: 2, -2: .bytes(x384), -3: .bytes(Array(y384.dropFirst()))],
        [1: 2, 3: -35, -1: 2, -2: .bytes(x), -3: .bytes(y)],
        [1: 1, 3: -8, -1: 6, -2: .bytes(point + [0])], [1: 1, 3: -8, -1: 6, -2: .bytes([])],
    ])
    func `a member of another length than the curve's is refused`(map: CBORMap) {
        #expect(throws: COSEKeyError.key(.malformed(nil))) { try COSEKey.decode(CBOR.map(map).encoded()) }
    }

    @Test func `what is no map is refused`() {
        #expect(throws: COSEKeyError.members) { try COSEKey.decode([0x80]) }
        #expect(throws: COSEKeyError.cbor(CBORError(offset: 0, reason: .truncated))) { try COSEKey.decode([]) }
    }

    @Test(arguments: [encoded, encoded384])
    func `a point that is not on the curve is refused`(encoded: [UInt8]) {
        #expect(throws: COSEKeyError.key(.notOnCurve)) { try COSEKey.decode(encoded.flipping(-1)) }
    }

    @Test func `a point under which anyone can sign is refused`() {
        let identity: CBORMap = [1: 1, 3: -8, -1: 6, -2: .bytes([1] + [UInt8](repeating: 0, count: 31))]
        #expect(throws: COSEKeyError.key(.smallOrder)) { try COSEKey.decode(CBOR.map(identity).encoded()) }
    }
}
