import Control
import Keys
import Testing

@Suite struct PINTextTests {
    @Test func `a client that has a PIN chosen knows the bounds of the agent`() {
        #expect(PINText.characters == PIN.characters)
        #expect(PINText.bytes.upperBound >= PIN.maxBytes)
    }

    @Test(arguments: [("123", true), ("1234", false), ("øøø", true), ("øøøø", false), ("", true)])
    func `a PIN that is too short is said before it is sent`(text: String, isProblem: Bool) {
        #expect((PINText(text).problem != nil) == isProblem)
    }

    @Test func `a PIN that is too long is said before it is sent`() {
        #expect(PINText(String(repeating: "1", count: 64)).problem == nil)
        #expect(PINText(String(repeating: "1", count: 65)).problem?.contains("too long") == true)
    }
}
