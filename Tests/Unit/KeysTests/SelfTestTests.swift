import Testing

@testable import Keys

/// What a key signs to show that it can.
@Suite struct SelfTestTests {
    @Test(arguments: SignatureAlgorithm.allCases)
    func `a key of each algorithm proves itself`(algorithm: SignatureAlgorithm) throws {
        #expect(try SigningKey.generate(algorithm).provesItself())
    }

    /// Authenticator data begins with a SHA-256: 23 bytes of it are as hard to meet as 184 bits.
    @Test func `what is signed for a test is no authenticator data`() throws {
        let messages = [try SelfTest.message(), try SelfTest.message()]
        #expect(messages[0] != messages[1])
        for message in messages {
            #expect(message.count == 55 && message.starts(with: Array("oob-agent key self-test".utf8)))
        }
        #expect(SelfTest.prefix.count * 8 == 184)
    }
}
