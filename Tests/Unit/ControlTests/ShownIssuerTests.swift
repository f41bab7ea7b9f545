import Control
import Testing

@Suite struct ShownIssuerTests {
    @Test(arguments: [
        ("https://issuer.example", "https://issuer.example"),
        ("HTTPS://Issuer.Example/x?y#z", "https://issuer.example"),
        ("https://bank.example@evil.example", "https://evil.example"),
        ("https://bank.example:1@x@evil.example:8443", "https://evil.example:8443"),
        ("https://evil.example\\@bank.example", "https://evil.example"),
        ("https://evil.example?@bank.example", "https://evil.example"), ("http://[::1]:80", "http://[::1]:80"),
        ("ftp://issuer.example", nil), ("issuer.example", nil), ("https://", nil), ("https:///x", nil),
    ])
    func `the origin is where an address leads`(text: String, origin: String?) throws {
        let issuer = try ShownIssuer(text)
        #expect(issuer.text == text)
        #expect(issuer.origin == origin)
    }

    @Test(arguments: [
        "", "https://bänk.example", "https://a b", "https://a\u{1B}[2J", String(repeating: "x", count: 2_049),
    ])
    func `what is not of printable ASCII is refused with what is allowed`(text: String) {
        let error = #expect(throws: ControlError.self) { try ShownIssuer(text) }
        #expect(error?.token == .invalidArgument)
        #expect(error?.message.contains("1 to 2048 characters of printable ASCII") == true)
        #expect(error?.message.unicodeScalars.contains("\u{1B}") == false)
    }

    @Test func `what is quoted of an address is bounded by its bytes`() throws {
        let error = #expect(throws: ControlError.self) {
            try ShownIssuer("a" + String(repeating: "\u{301}", count: 1_000_000))
        }
        #expect(try #require(error).message.utf8.count < 1_000)
    }

    @Test(arguments: [
        "http://localhost:8080", "https://LOCALHOST", "http://127.0.0.1", "http://127.8.9.10:1", "http://[::1]",
        "http://[::1]:8080",
    ])
    func `an issuer on this computer is said to be`(text: String) throws {
        #expect(try ShownIssuer(text).isLoopback)
    }

    @Test(arguments: [
        "https://issuer.example", "https://127.evil.example", "https://localhost.evil.example", "https://128.0.0.1",
        "https://localhost@evil.example", "localhost", "https://[2001:db8::1]:1",
    ])
    func `any other issuer is not`(text: String) throws {
        #expect(try !ShownIssuer(text).isLoopback)
    }

    @Test func `a host of other letters than ASCII's is said to be one, in whatever label they are`() throws {
        #expect(try ShownIssuer("https://xn--bnk-qla.example").isInternational)
        #expect(try ShownIssuer("https://www.XN--bnk-qla.example:8443").isInternational)
        #expect(try !ShownIssuer("https://issuer.example/xn--bnk-qla").isInternational)
    }
}

@Suite struct ExitStatusHelpTests {
    @Test func `help has a line for each exit status, in their order, within a terminal's width`() {
        let lines = ExitStatus.help.split(separator: "\n")
        #expect(lines.map { Int32($0.prefix(4).drop { $0 == " " }) } == ExitStatus.allCases.map(\.rawValue))
        #expect(lines.allSatisfy { $0.count < 80 })
        #expect(Set(ExitStatus.allCases.map(\.meaning)).count == ExitStatus.allCases.count)
    }
}
