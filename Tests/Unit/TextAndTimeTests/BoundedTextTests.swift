import Testing
import TextAndTime

struct BoundedTextTests {
    /// One letter with a million marks: one character, and 2,000,001 bytes.
    private static let marked = "a" + String(repeating: "\u{301}", count: 1_000_000)

    @Test(arguments: 0...12)
    func `a text has at most so many bytes, and is cut between two scalars`(bytes: Int) {
        let text = "aé€𝄞z"
        let beginning = text.beginning(bytes: bytes)
        #expect(beginning.utf8.count <= bytes)
        #expect(text.unicodeScalars.starts(with: beginning.unicodeScalars))
        let widths = [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11]
        #expect(beginning.utf8.count == widths[bytes])
        #expect(text[...].beginning(bytes: bytes) == beginning)
    }

    @Test func `one letter with a million marks is cut within its marks`() {
        #expect(Self.marked.count == 1)
        #expect(Self.marked.beginning(bytes: 101).utf8.count == 101)
        #expect(Self.marked.beginning(bytes: 100).utf8.count == 99)
    }

    @Test func `a scheme is compared without regard to case, and by its bytes`() {
        #expect("OOB-Enroll:?x".beginsIgnoringCase(with: "oob-enroll:"))
        #expect(!"oob-enroll".beginsIgnoringCase(with: "oob-enroll:"))
        #expect(!"oob-enroll\u{301}:".beginsIgnoringCase(with: "oob-enroll:"))
    }
}
