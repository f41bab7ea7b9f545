import Testing
import TextAndTime

struct EscapedTextTests {
    @Test func `printable ASCII stays, all else is spelled out`() {
        #expect(EscapedText.of("a ~\\\n\u{1B}[2J\u{202E}é") == #"a ~\u{5C}\u{A}\u{1B}[2J\u{202E}\u{E9}"#)
    }

    @Test func `it is cut after the limit`() {
        #expect(EscapedText.of("abcd", limit: 4) == "abcd")
        #expect(EscapedText.of("abcde", limit: 4) == "abcd...")
    }
}
