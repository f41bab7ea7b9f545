import Testing

@testable import Keys

@Suite struct AgentSecretTests {
    let secret: AgentSecret
    let plain = Secret("what is to be kept")

    init() throws { secret = try AgentSecret(Secret((0..<32).map { UInt8($0) })) }

    @Test(arguments: [(0, false), (15, false), (16, true), (32, true), (1_024, true), (1_025, false)])
    func `a secret has 16 to 1024 bytes`(count: Int, isAllowed: Bool) {
        let made = try? AgentSecret(Secret([UInt8](repeating: 7, count: count)))
        #expect((made != nil) == isAllowed)
    }

    // RFC 5869, test case 3: no salt, no info.
    @Test func `HKDF gives the RFC's bytes`() throws {
        let derived = try HKDF.derive(42, from: Secret([UInt8](repeating: 0x0B, count: 22)), info: [])
        #expect(
            derived.revealed
                == bytes(
                    """
                    8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8
                    """))
    }

    @Test func `one expansion of what was extracted is the start of what HKDF derives`() throws {
        for (count, info) in [(22, []), (16, [1]), (64, [UInt8](repeating: 7, count: 200)), (1_024, [0])] {
            let secret = Secret([UInt8](repeating: 0x0B, count: count))
            let expanded = try HKDF.expand(HKDF.extract(from: secret), info: info)
            #expect(try expanded == HKDF.derive(32, from: secret, info: info))
        }
    }

    @Test func `the sealing key is what openssl kdf derives`() throws {
        let derived = try OpenSSLCommand.run(
            "kdf", "-binary", "-keylen", "32", "-kdfopt", "digest:SHA256",
            "-kdfopt", "hexkey:" + hexadecimal((0..<32).map { UInt8($0) }),
            "-kdfopt", "hexinfo:" + hexadecimal(Array("oob-agent/1/seal".utf8) + [0] + Array("key A".utf8)),
            "HKDF")
        #expect(try secret.sealingKey(for: "key A").revealed == derived)
    }

    @Test func `what is derived differs by use, by label and by secret`() throws {
        let derived = [
            try secret.sealingKey(for: "a"), try secret.sealingKey(for: "b"), try secret.derived("other", "a"),
            try AgentSecret.generate().sealingKey(for: "a"),
        ]
        for (index, one) in derived.enumerated() {
            #expect(!derived[(index + 1)...].contains(one))
        }
        #expect(try secret.sealingKey(for: "a") == secret.sealingKey(for: "a"))
        #expect(derived[0].count == 32)
    }

    // The GCM specification by McGrew and Viega, test case 16.
    @Test func `AES-256-GCM gives the specification's bytes`() throws {
        let key = Secret(bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
        let plain = Secret(
            bytes(
                """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
                """))
        let sealed = try CipherContext().encrypt(
            plain, key: key, nonce: bytes("cafebabefacedbaddecaf888"),
            additional: bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
        #expect(
            sealed
                == bytes(
                    """
                    522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
                    8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
                    76fc6ece0f4e1768cddf8853bb2d551b
                    """))
    }

    @Test func `a key or nonce of another length is refused, not read past`() {
        #expect(throws: OpenSSLError.self) {
            try CipherContext().encrypt(
                Secret("p"), key: Secret("short"), nonce: [UInt8](repeating: 0, count: 12), additional: [])
        }
        #expect(throws: OpenSSLError.self) {
            try CipherContext().encrypt(
                Secret("p"), key: Secret([UInt8](repeating: 0, count: 32)), nonce: [1], additional: [])
        }
    }

    @Test(arguments: ["", "enrollment-1", "ключ"])
    func `what was sealed opens under the same secret and label`(label: String) throws {
        let sealed = try secret.seal(plain, label: label)
        #expect(sealed[0] == 1 && sealed.count == 1 + 12 + plain.count + 16)
        #expect(try secret.open(sealed, label: label) == plain)
        #expect(try secret.open(secret.seal(Secret([]), label: label), label: label) == Secret([]))
    }

    @Test func `another secret or label does not open it`() throws {
        let sealed = try secret.seal(plain, label: "a")
        for label in ["", "b", "a\0", "A", "aa"] {
            #expect(throws: SealError.notSealedByThisSecret) { try secret.open(sealed, label: label) }
        }
        let other = try AgentSecret.generate()
        #expect(throws: SealError.notSealedByThisSecret) { try other.open(sealed, label: "a") }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `with any bit flipped it does not open`() throws {
        let sealed = try secret.seal(plain, label: "a")
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                let expected: SealError = index == 0 ? .malformed : .notSealedByThisSecret
                #expect(throws: expected, "byte \(index)") { try secret.open(changed, label: "a") }
            }
        }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `cut at any place, or lengthened, it does not open`() throws {
        let sealed = try secret.seal(plain, label: "a")
        for count in sealed.indices {
            #expect(throws: SealError.self) { try secret.open(Array(sealed.prefix(count)), label: "a") }
        }
        #expect(throws: SealError.notSealedByThisSecret) { try secret.open(sealed + [0], label: "a") }
        let huge = [1] + [UInt8](repeating: 0, count: 1 << 20)
        #expect(throws: SealError.malformed) { try secret.open(huge, label: "a") }
    }

    @Test func `the same is sealed to other bytes each time`() throws {
        #expect(try secret.seal(plain, label: "a") != secret.seal(plain, label: "a"))
    }
}
