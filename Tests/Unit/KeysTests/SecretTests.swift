import Testing

@testable import Keys

@Suite struct SecretTests {
    private struct Holder {
        let name = "holder"
        let secret: Secret
        let maybe: Secret?
    }

    @Test func `no way of printing shows a secret`() throws {
        let text = "4111-correct-horse"
        let secret = Secret(text)
        let agent = try AgentSecret(secret)
        let decimal = Array(text.utf8).map(String.init).joined(separator: ", ")
        let holder = Holder(secret: secret, maybe: secret)
        for value: Any in [secret, agent, holder, [secret], ["k": agent], Optional(secret) as Any, (secret, 1)] {
            for shown in everyText(of: value) {
                #expect(!shown.contains("4111") && !shown.contains(decimal), "\(shown)")
                #expect(!shown.contains("0x00"), "\(shown)")
            }
        }
        for shown in everyText(of: secret) where !shown.isEmpty { #expect(shown.contains("<redacted>"), "\(shown)") }
        for shown in everyText(of: agent) where !shown.isEmpty { #expect(shown.contains("<redacted>"), "\(shown)") }
        #expect(Mirror(reflecting: secret).children.isEmpty && Mirror(reflecting: agent).children.isEmpty)
    }

    @Test func `a secret cannot be encoded`() {
        #expect(!((Secret("s") as Any) is any Encodable))
        #expect(!((Secret.self as Any.Type) is any Decodable.Type))
        #expect(!((AgentSecret.self as Any.Type) is any Encodable.Type))
        #expect(!((SigningKey.self as Any.Type) is any Encodable.Type))
    }

    @Test func `errors about secrets do not show them`() throws {
        let short = Secret("short-pin")
        let error = #expect(throws: AgentSecretError.self) { try AgentSecret(short) }
        for shown in everyText(of: try #require(error)) { #expect(!shown.contains("short-pin")) }
        #expect(error?.description.contains("9 bytes; it must have 16 to 1024") == true)
        let encrypted = try SigningKey.generate(.es256).encryptedPKCS8(pin: PIN(Secret("the-passphrase")))
        let refusal = #expect(throws: KeyError.self) {
            try SigningKey(encryptedPKCS8: encrypted, passphrase: Secret("another-one"))
        }
        for shown in everyText(of: try #require(refusal)) {
            #expect(!shown.contains("another-one") && !shown.contains("the-passphrase"))
        }
    }

    @Test func `secrets are equal by their bytes`() {
        #expect(Secret("abc") == Secret("abc"))
        #expect(Secret("abc") != Secret("abd"))
        #expect(Secret("abc") != Secret("ab"))
        #expect(Secret([]) == Secret([]))
        #expect(Secret("abc").revealed == Array("abc".utf8) && Secret("abc").count == 3)
    }

    @Test func `the array that a secret was made from is wiped on request`() {
        var bytes: [UInt8] = [1, 2, 3]
        #expect(Secret(wiping: &bytes).revealed == [1, 2, 3])
        #expect(bytes.isEmpty)
    }

    @Test func `random secrets differ`() throws {
        #expect(try Secret.random(32).count == 32)
        #expect(try Secret.random(32) != Secret.random(32))
    }

    @Test(arguments: [(0, "00"), (9, "09"), (10, "0a"), (0x9A, "9a"), (0xAF, "af"), (0xFF, "ff")])
    func `hexadecimal digits`(byte: UInt8, digits: String) throws {
        #expect(try Secret([byte]).hexadecimal() == Secret(digits))
    }
}
