import Control
import Testing

/// What `oobctl` takes on its command line, checked before anything is sent.
struct ArgumentTests {
    @Test(arguments: [
        ("oob-enroll:?issuer=https://issuer.example&code=7QK4-M2XD", "https://issuer.example", "7QK4-M2XD"),
        ("oob-enroll:?code=7QK4-M2XD&issuer=https%3A%2F%2Fissuer.example", "https://issuer.example", "7QK4-M2XD"),
        ("OOB-Enroll:?issuer=http://localhost:8080&code=a%2bb+c", "http://localhost:8080", "a+b+c"),
        ("oob-enroll:?issuer=x&code=a=b", "x", "a=b"),
    ])
    func `a link gives issuer and code`(link: String, issuer: String, code: String) throws {
        let link = try EnrollLink(link)
        #expect(link.issuer == issuer)
        #expect(link.code == code)
    }

    @Test(arguments: [
        "", "oob-enroll:", "oob-enroll:?", "oob-enroll:?issuer=x", "oob-enroll:?code=x",
        "oob-enroll://?issuer=x&code=y", "https:?issuer=x&code=y", " oob-enroll:?issuer=x&code=y",
        "oob-enroll:?issuer=x&code=y&code=z", "oob-enroll:?issuer=x&code=y&name=z", "oob-enroll:?issuer=x&code=y&",
        "oob-enroll:?issuer=&code=y", "oob-enroll:?issuer=x&code=", "oob-enroll:?issuer=x&code",
        "oob-enroll:?issuer=x&code=%", "oob-enroll:?issuer=x&code=%4", "oob-enroll:?issuer=x&code=%4G",
        "oob-enroll:?issuer=x&code=a b", "oob-enroll:?issuer=x&code=%00", "oob-enroll:?issuer=x&code=%0A",
        "oob-enroll:?issuer=x&code=%C3%A9", "oob-enroll:?issuer=x&code=é", "oob-enroll:?Issuer=x&code=y",
        "oob-enroll:?issuer=x&code=y#z y",
        "oob-enroll:?issuer=x&code=" + String(repeating: "y", count: 4_096),
    ])
    func `a link of another form is refused`(link: String) {
        let error = #expect(throws: ControlError.self) { try EnrollLink(link) }
        #expect(error?.token == .invalidArgument)
    }

    @Test(arguments: ["USD 1.00", "JPY 100", "EUR 12 345.00", "EUR 12345.00", "KWD 0.001", "ISK 1.00"])
    func `an amount with its currency and decimals is an expectation`(text: String) {
        #expect(Expectation.problem(withAmount: text) == nil)
    }

    @Test(arguments: ["1,00", "1.000", "USD 1", "USD 1,00", "USD1.00", "usd 1.00", "", "USD", "XYZ 1.00", "USD -1.00"])
    func `an amount of another form is refused with words that say what is allowed`(text: String) {
        #expect(Expectation.problem(withAmount: text)?.contains(".00\"") == true)
    }

    @Test func `only a whole acsTransId is an expectation`() {
        #expect(Expectation.problem(withAcsTransId: "2F37539C-d82e-4929-88db-2f9e72c7fa62") == nil)
        #expect(Expectation.problem(withAcsTransId: "2f37539c") != nil)
    }

    @Test(arguments: ["2f37539c-d82e-4929-88db-2f9e72c7fa62", "a", "_-", String(repeating: "x", count: 64), "nex"])
    func `an ID or a prefix of one is a selector`(id: String) throws {
        #expect(try RequestSelector(id: id) == .id(id))
    }

    @Test(arguments: ["", "next", "..", "a/b", "a b", "a%2F", "é", "a\n", String(repeating: "x", count: 65)])
    func `what is no ID is refused before it becomes part of a path`(id: String) {
        let error = #expect(throws: ControlError.self) { try RequestSelector(id: id) }
        #expect(error?.token == .invalidArgument)
    }

    @Test func `text from outside is one escaped line`() {
        #expect(TerminalText.escaped("a\u{1B}[2J\nb\u{202E}") == #"a\u{1B}[2J\u{A}b\u{202E}"#)
    }

    @Test func `a sentence keeps the escapes and spaces that it has`() {
        #expect(TerminalText.sentence("a  \\u{202E} \u{202E}\u{1B}.") == #"a  \u{202E} \u{202E}\u{1B}."#)
    }
}
