import Testing

@testable import WebAuthn

@Suite struct CBORTests {
    /// RFC 8949 Appendix A, the items of the kinds that are supported.
    static let appendixA: [(CBOR, String)] = [
        (0, "00"), (1, "01"), (10, "0a"), (23, "17"), (24, "1818"), (25, "1819"), (100, "1864"), (1_000, "1903e8"),
        (1_000_000, "1a000f4240"), (1_000_000_000_000, "1b000000e8d4a51000"),
        (.unsigned(.max), "1bffffffffffffffff"), (.negative(.max), "3bffffffffffffffff"),
        (-1, "20"), (-10, "29"), (-100, "3863"), (-1_000, "3903e7"),
        (.bool(false), "f4"), (.bool(true), "f5"), (.null, "f6"),
        (.bytes([]), "40"), (.bytes([1, 2, 3, 4]), "4401020304"),
        ("", "60"), ("a", "6161"), ("IETF", "6449455446"), ("\"\\", "62225c"), ("\u{FC}", "62c3bc"),
        ("\u{6C34}", "63e6b0b4"), ("\u{10151}", "64f0908591"),
        (.array([]), "80"), (.array([1, 2, 3]), "83010203"),
        (.array([1, .array([2, 3]), .array([4, 5])]), "8301820203820405"),
        (
            .array((1...25).map { .integer($0) }),
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819"
        ),
        (.map([:]), "a0"), (.map([1: 2, 3: 4]), "a201020304"),
        (.map(["a": 1, "b": .array([2, 3])]), "a26161016162820203"),
        (.array(["a", .map(["b": "c"])]), "826161a161626163"),
        (
            .map(["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"]),
            "a56161614161626142616361436164614461656145"
        ),
    ]

    @Test(arguments: appendixA)
    func `the examples of RFC 8949 Appendix A are written and read`(item: CBOR, encoding: String) throws {
        #expect(item.encoded() == hex(encoding))
        #expect(try CBOR.decode(hex(encoding)) == item)
    }

    @Test(arguments: [
        ("c249010000000000000000", CBORError.Reason.tag), ("f90000", .unsupportedSimpleValue),
        ("fa47c35000", .unsupportedSimpleValue), ("fb3ff199999999999a", .unsupportedSimpleValue),
        ("f97e00", .unsupportedSimpleValue), ("f7", .unsupportedSimpleValue), ("f0", .unsupportedSimpleValue),
        ("f8ff", .unsupportedSimpleValue), ("c11a514b67b0", .tag), ("5f42010243030405ff", .indefiniteLength),
        ("7f657374726561646d696e67ff", .indefiniteLength), ("9fff", .indefiniteLength),
        ("bf61610161629f0203ffff", .indefiniteLength),
    ])
    func `the examples of RFC 8949 Appendix A of other kinds are refused`(
        encoding: String, reason: CBORError.Reason
    ) {
        #expect(throws: CBORError(offset: 0, reason: reason)) { try CBOR.decode(hex(encoding)) }
    }

    @Test(arguments: [
        ("1800", 0), ("1817", 0), ("190017", 0), ("1900ff", 0), ("1a0000ffff", 0), ("1b00000000ffffffff", 0),
        ("3817", 0), ("5800", 0), ("7801 61", 0), ("9800", 0), ("b800", 0), ("8200 1801", 2),
    ])
    func `an integer or a length that is not in its shortest form is refused`(encoding: String, offset: Int) {
        #expect(throws: CBORError(offset: offset, reason: .notShortest)) { try CBOR.decode(hex(encoding)) }
    }

    @Test(arguments: [
        "5b7fffffffffffffff", "5bffffffffffffffff", "7bffffffffffffffff", "9b7fffffffffffffff", "9bffffffffffffffff",
        "bb7fffffffffffffff", "bbffffffffffffffff", "bb8000000000000000", "5a7fffffff", "9a00010000",
    ])
    func `a hostile length is refused as more than there is`(encoding: String) {
        #expect(throws: CBORError(offset: 0, reason: .truncated)) { try CBOR.decode(hex(encoding) + [0, 0, 0]) }
    }

    @Test(arguments: ["", "18", "1903", "1a000f42", "44010203", "6461", "8301", "a101", "a20102"])
    func `input that ends too early is refused`(encoding: String) throws {
        let error = try #require(throws: CBORError.self) { try CBOR.decode(hex(encoding)) }
        #expect(error.reason == .truncated)
    }

    @Test func `every proper prefix of an attestation object is refused as too short`() throws {
        let whole = W3CVector.packedSelf.attestationObject
        for count in whole.indices {
            let error = try #require(throws: CBORError.self) { try CBOR.decode(Array(whole.prefix(count))) }
            #expect(error.reason == .truncated)
        }
    }

    @Test func `bytes after the item are refused, and left alone by the prefix reader`() throws {
        #expect(throws: CBORError(offset: 1, reason: .trailingBytes)) { try CBOR.decode([0x01, 0x02]) }
        let (item, consumed) = try CBOR.decodePrefix([0x82, 0x01, 0x02, 0xFF])
        #expect(item == .array([1, 2]))
        #expect(consumed == 3)
    }

    @Test(arguments: [
        ("a201010102", 3, CBORError.Reason.duplicateKey), ("a202010102", 3, .keysNotSorted),
        // −1 has a lower encoding than "", and 24 than −1 although it is longer: the major type comes first.
        ("a260002000", 3, .keysNotSorted), ("a22000181800", 3, .keysNotSorted),
        ("a26262620061 6100", 5, .keysNotSorted), ("a1 80 00", 1, .keyKind), ("a1 a0 00", 1, .keyKind),
        ("a1 f6 00", 1, .keyKind), ("a1 f5 00", 1, .keyKind),
    ])
    func `the keys of a map are integers or strings, once each and in order`(
        encoding: String, offset: Int, reason: CBORError.Reason
    ) {
        #expect(throws: CBORError(offset: offset, reason: reason)) { try CBOR.decode(hex(encoding)) }
    }

    @Test func `a map is written in canonical order whatever order it was given in`() throws {
        let map: CBORMap = ["b": 1, "aa": 2, -1: 3, 24: 4, "a": 5, 3: 6, .bytes([0]): 7, -25: 8]
        let bytes = CBOR.map(map).encoded()
        #expect(bytes == hex("a8 0306 181804 2003 381808 410007 616105 616201 62616102"))
        #expect(try CBOR.decode(bytes) == .map(map))
    }

    @Test func `a key that is given twice keeps its first value`() {
        let map: CBORMap = [1: "first", 1: "second"]
        #expect(map.count == 1)
        #expect(map[1] == "first")
    }

    @Test(arguments: ["61ff", "62c328", "63eda080", "64f5808080"])
    func `text that is not UTF-8 is refused`(encoding: String) {
        #expect(throws: CBORError(offset: 0, reason: .notUTF8)) { try CBOR.decode(hex(encoding)) }
    }

    @Test func `text is compared by bytes, not by Unicode equivalence`() {
        #expect("\u{E9}" == "e\u{301}")
        #expect(CBOR.text("\u{E9}") != CBOR.text("e\u{301}"))
    }

    @Test func `eight containers in one another are read, nine are refused`() throws {
        let eight = [UInt8](repeating: 0x81, count: 8) + [0x00]
        #expect(try CBOR.decode(eight).encoded() == eight)
        #expect(throws: CBORError(offset: 8, reason: .tooDeep(limit: 8))) { try CBOR.decode([0x81] + eight) }
        let maps = hex(String(repeating: "a100", count: 9) + "00")
        #expect(throws: CBORError(offset: 16, reason: .tooDeep(limit: 8))) { try CBOR.decode(maps) }
    }

    @Test func `a thousand items are read, one more is refused`() throws {
        func array(_ count: Int) -> [UInt8] { CBOR.array(Array(repeating: 0, count: count)).encoded() }
        #expect(try CBOR.decode(array(999)) == .array(Array(repeating: 0, count: 999)))
        #expect(throws: CBORError(offset: 1_002, reason: .tooManyItems(limit: 1_000))) {
            try CBOR.decode(array(1_000))
        }
    }

    @Test func `input over the limit is refused before it is read`() throws {
        let limits = CBORLimits(maxBytes: 4)
        #expect(try CBOR.decode(hex("43010203"), limits: limits) == .bytes([1, 2, 3]))
        #expect(throws: CBORError(offset: 0, reason: .tooLarge(limit: 4))) {
            try CBOR.decode(hex("4401020304"), limits: limits)
        }
    }

    @Test(arguments: [(0, CBOR.unsigned(0)), (-1, .negative(0)), (Int.max, .unsigned(0x7FFF_FFFF_FFFF_FFFF))])
    func `integers of either sign come back`(value: Int, item: CBOR) {
        #expect(CBOR.integer(value) == item)
        #expect(item.integer == value)
    }

    @Test func `the least integer comes back, and those beyond are none`() {
        #expect(CBOR.integer(.min) == .negative(0x7FFF_FFFF_FFFF_FFFF))
        #expect(CBOR.integer(.min).integer == .min)
        #expect(CBOR.unsigned(0x8000_0000_0000_0000).integer == nil)
        #expect(CBOR.negative(0x8000_0000_0000_0000).integer == nil)
        #expect(CBOR.text("1").integer == nil)
    }

    @Test func `what is read from any bytes is written back the same`() {
        // A small linear congruential generator: the same bytes in every run.
        var state: UInt64 = 7
        func next() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        var readCount = 0
        for _ in 0..<20_000 {
            let bytes = (0..<Int(next() % 12)).map { _ in next() }
            guard let (item, consumed) = try? CBOR.decodePrefix(bytes) else { continue }
            readCount += 1
            #expect(item.encoded() == Array(bytes.prefix(consumed)))
        }
        #expect(readCount > 1_000)
    }
}
