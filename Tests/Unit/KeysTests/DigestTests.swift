import Testing

@testable import Keys

@Suite struct DigestTests {
    // FIPS 180-2, appendix B.1, and the empty message.
    @Test(arguments: [
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ])
    func `SHA-256 gives the standard's digests`(message: String, digest: String) throws {
        #expect(try SHA256Digest.of(Array(message.utf8)) == bytes(digest))
    }

    @Test func `the digest of pieces is that of the whole, and may be asked for in between`() throws {
        let whole = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        let digest = try RunningSHA256()
        #expect(try digest.digest() == SHA256Digest.of([]))
        for start in stride(from: 0, to: 1_000, by: 300) {
            try digest.update(Array(whole[start..<min(start + 300, 1_000)]))
            #expect(try digest.digest() == SHA256Digest.of(Array(whole.prefix(start + 300))))
        }
    }

    @Test func `random bytes are as many as asked, and other ones each time`() throws {
        #expect(try SecureRandom.bytes(0).isEmpty)
        let (first, second) = (try SecureRandom.bytes(32), try SecureRandom.bytes(32))
        #expect(first.count == 32 && second.count == 32)
        #expect(first != second)
    }

    @Test(arguments: [
        ([], [], true), ([1, 2], [1, 2], true), ([1, 2], [1, 3], false), ([1, 2], [1, 2, 0], false),
    ])
    func `constant-time equality is equality`(a: [UInt8], b: [UInt8], expected: Bool) {
        #expect(ConstantTime.equal(a, b) == expected)
    }

    @Test func `a failed call carries every reason, and leaves the queue empty`() throws {
        let error = #expect(throws: OpenSSLError.self) { try EncryptedKeyInfo.reading(der: [0x30, 0x03, 0x02]).der() }
        #expect(error?.function == "d2i_X509_SIG")
        #expect((error?.reasons.count ?? 0) >= 2)
        #expect(OpenSSLError.queueIsEmpty)
    }
}
