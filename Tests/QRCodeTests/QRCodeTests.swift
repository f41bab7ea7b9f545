import QRCode
import Testing

/// That readers read them is seen by one that no one here wrote: Tests/Programs/test_enroll.py.
@Suite struct QRCodeTests {
    @Test(arguments: [
        (0, 21), (14, 21), (15, 25), (26, 25), (42, 29), (62, 33), (84, 37), (106, 41), (122, 45), (152, 49),
        (180, 53), (181, 57), (213, 57),
    ])
    func `a code is of the smallest version that holds the bytes`(bytes: Int, size: Int) throws {
        let code = try #require(QRCode(Array(repeating: 0x41, count: bytes)))
        #expect(code.size == size)
    }

    @Test func `more bytes than version 10 holds are no code`() {
        #expect(QRCode.maxBytes == 213)
        #expect(QRCode(Array(repeating: 0x41, count: 214)) == nil)
    }

    // Of level M and the masks 0 to 7 (ISO/IEC 18004:2015, table C.1). A reader corrects a wrong bit, and cannot tell.
    private static let formats: Set<String> = [
        "101010000010010", "101000100100101", "101111001111100", "101101101001011", "100010111111001",
        "100000011001110", "100111110010111", "100101010100000",
    ]

    @Test(arguments: 1...40) func `both copies of the format are those of level M, to the bit`(bytes: Int) throws {
        let code = try #require(QRCode(Array(repeating: UInt8(bytes), count: bytes)))
        let last = code.size - 1
        let corner = [0, 1, 2, 3, 4, 5, 7, 8].map { (8, $0) } + [7, 5, 4, 3, 2, 1, 0].map { ($0, 8) }
        let sides = (0...6).map { (last - $0, 8) } + (0...7).map { (8, last - 7 + $0) }
        let copies = [corner, sides].map { places in
            places.map { code.isDark(row: $0.0, column: $0.1) ? "1" : "0" }.joined()
        }
        #expect(copies[0] == copies[1])
        #expect(Self.formats.contains(copies[0]))
        #expect(code.isDark(row: last - 7, column: 8))
    }

    @Test func `what lies around a code is light`() throws {
        let code = try #require(QRCode(Array("x".utf8)))
        #expect(code.isDark(row: 0, column: 0))
        for (row, column) in [(-1, 0), (0, -1), (21, 0), (0, 21)] { #expect(!code.isDark(row: row, column: column)) }
    }

    @Test func `every drawing has its width in every line, a quiet zone of light modules, and ASCII if asked for`()
        throws
    {
        let code = try #require(QRCode(Array(repeating: 0x41, count: 213)))
        let blocks = QRDrawing(.halfBlocks, isColoured: false)
        #expect(blocks.width(of: code) == 65)
        #expect(blocks.lines(of: code).allSatisfy { $0.count == 65 })
        #expect(blocks.lines(of: code).prefix(2).allSatisfy { $0 == String(repeating: "█", count: 65) })
        let pairs = QRDrawing(.pairs, isColoured: false)
        #expect(pairs.lines(of: code).count == 65)
        #expect(pairs.lines(of: code).allSatisfy { $0.count == pairs.width(of: code) && $0.utf8.allSatisfy(\.isASCII) })
    }

    @Test func `each coloured line ends with the terminal's own colours`() throws {
        let code = try #require(QRCode(Array("oob-enroll:".utf8)))
        for cells in [QRDrawing.Cells.halfBlocks, .pairs] {
            #expect(QRDrawing(cells, isColoured: true).lines(of: code).allSatisfy { $0.hasSuffix("\u{1B}[0m") })
        }
    }
}

extension UInt8 {
    fileprivate var isASCII: Bool { self < 0x80 }
}
