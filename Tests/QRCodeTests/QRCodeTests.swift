import QRCode
import Testing

/// That readers read them is seen by one that no one here wrote: Tests/Outside/test_enroll.py.
@Suite struct QRCodeTests {
    @Test(arguments: [
        (0, 21), (14, 21), (15, 25), (26, 25), (42, 29), (62, 33), (84, 37), (106, 41), (122, 45), (152, 49),
        (180, 53), (181, 57), (213, 57),
    ])
    func `a code is of the smallest version that holds the octets`(octets: Int, size: Int) throws {
        let code = try #require(QRCode(Array(repeating: 0x41, count: octets)))
        #expect(code.size == size)
    }

    @Test func `more octets than version 10 holds are no code`() {
        #expect(QRCode.maxOctets == 213)
        #expect(QRCode(Array(repeating: 0x41, count: 214)) == nil)
    }

    @Test func `what lies around a code is light`() throws {
        let code = try #require(QRCode(Array("x".utf8)))
        #expect(code.isDark(row: 0, column: 0))
        for (row, column) in [(-1, 0), (0, -1), (21, 0), (0, 21)] { #expect(!code.isDark(row: row, column: column)) }
    }

    @Test func `every drawing has its width in every line, a quiet zone of light modules, and ASCII where asked for`()
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
