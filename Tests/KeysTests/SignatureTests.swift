import Testing

@testable import Keys

@Suite struct SignatureTests {
    // RFC 6979 §A.2.5: SHA-256 over "sample".
    static let r = octets("EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716")
    static let s = octets("F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8")
    let key: SigningKey
    let message = Array("an authn request".utf8)

    init() throws { key = try SigningKey.generate(.es256) }

    @Test func `the signature of RFC 6979 holds, raw and as DER`() throws {
        let key = try PublicKey(p256X: PublicKeyTests.x, p256Y: PublicKeyTests.y)
        let message = Array("sample".utf8)
        #expect(try key.isValid(rawSignature: Self.r + Self.s, over: message))
        let der = [0x30, 0x46, 0x02, 0x21, 0x00] + Self.r + [0x02, 0x21, 0x00] + Self.s
        #expect(try key.isValid(derSignature: der, over: message))
        #expect(try !key.isValid(derSignature: der, over: Array("Sample".utf8)))
    }

    @Test func `a signature holds for its message and its key only, in both forms`() throws {
        let (der, raw) = (try key.signature(over: message), try key.rawSignature(over: message))
        #expect(raw.count == 64 && der.count <= 72)
        let other = try SigningKey.generate(.es256).publicKey
        #expect(try key.publicKey.isValid(derSignature: der, over: message))
        #expect(try key.publicKey.isValid(rawSignature: raw, over: message))
        #expect(try !key.publicKey.isValid(derSignature: der, over: message + [0]))
        #expect(try !key.publicKey.isValid(rawSignature: raw, over: []))
        #expect(try !other.isValid(derSignature: der, over: message))
        #expect(try !other.isValid(rawSignature: raw, over: message))
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `an empty message can be signed`() throws {
        let signature = try key.signature(over: [])
        #expect(try key.publicKey.isValid(derSignature: signature, over: []))
    }

    @Test func `a signature with any octet changed, cut or lengthened does not hold`() throws {
        let signature = try key.signature(over: message)
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 0x40
            #expect(try !key.publicKey.isValid(derSignature: changed, over: message), "octet \(index)")
            #expect(try !key.publicKey.isValid(derSignature: Array(signature[..<index]), over: message))
            #expect(OpenSSLError.queueIsEmpty)
        }
        #expect(try !key.publicKey.isValid(derSignature: signature + [0], over: message))
    }

    @Test func `a raw signature of another length, of zeros or out of range does not hold`() throws {
        let raw = try key.rawSignature(over: message)
        let (r, s) = (Array(raw[..<32]), Array(raw[32...]))
        let (zeros, ones) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32))
        let refused = [[], [0], Array(raw.dropLast()), raw + [0], zeros + zeros, zeros + s, r + zeros, ones + ones]
        for signature in refused {
            #expect(try !key.publicKey.isValid(rawSignature: signature, over: message))
            #expect(OpenSSLError.queueIsEmpty)
        }
    }

    @Test func `a DER signature in a laxer encoding does not hold`() throws {
        let raw = try key.rawSignature(over: message)
        let padded: [UInt8] = [0x30, 0x48, 0x02, 0x22, 0, 0] + raw[..<32] + [0x02, 0x22, 0, 0] + raw[32...]
        #expect(try !key.publicKey.isValid(derSignature: padded, over: message))
        #expect(OpenSSLError.queueIsEmpty)
    }

    // Each number: with the high bit set (DER adds a zero octet), with leading zero octets (DER drops them), zero, one.
    static let numbers =
        ["ff", "80", "7f", "0080", "007f", "0000ff", "00", "0001"].map { start in
            octets(start) + [UInt8](repeating: start == "00" ? 0 : 0x5A, count: 32 - octets(start).count)
        } + [[UInt8](repeating: 0, count: 31) + [1], [UInt8](repeating: 0, count: 31) + [0x80]]

    @Test(arguments: numbers, numbers)
    func `raw and DER give each other back at every edge`(r: [UInt8], s: [UInt8]) throws {
        let signature = try ECDSASignature.reading(raw: r + s)
        let der = try signature?.der() ?? []
        #expect(der == Self.sequence(Self.integer(r) + Self.integer(s)))
        #expect(try ECDSASignature.reading(der: der).raw() == r + s)
    }

    @Test func `a number longer than P-256's has no raw form`() throws {
        let long = Self.sequence(Self.integer([1] + [UInt8](repeating: 0, count: 32)) + Self.integer([1]))
        #expect(throws: OpenSSLError.self) { try ECDSASignature.reading(der: long).raw() }
        #expect(throws: OpenSSLError.self) { try ECDSASignature.reading(der: Self.sequence(Self.integer([1]))).raw() }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `openssl dgst verifies our signature, and we verify its`() throws {
        let scratch = try ScratchDirectory()
        let (publicKey, signature) = (scratch("public.pem"), scratch("signature"))
        try DurableFile.write(Array(key.publicKey.pem.utf8), to: publicKey, replacing: false)
        try DurableFile.write(key.signature(over: message), to: signature, replacing: false)
        try OpenSSLCommand.run("dgst", "-sha256", "-verify", publicKey, "-signature", signature, input: message)

        let theirs = scratch("theirs.pem")
        try OpenSSLCommand.run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", theirs)
        let der = try OpenSSLCommand.run("pkey", "-in", theirs, "-pubout", "-outform", "DER")
        let made = try OpenSSLCommand.run("dgst", "-sha256", "-sign", theirs, input: message)
        #expect(try PublicKey(subjectPublicKeyInfo: der).isValid(derSignature: made, over: message))
    }

    @Test func `one key signs on many threads at once`() async throws {
        let (key, message) = (key, message)
        let valid = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    try key.publicKey.isValid(derSignature: key.signature(over: message), over: message)
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(valid == 64)
    }

    private static func integer(_ bigEndian: [UInt8]) -> [UInt8] {
        var digits = Array(bigEndian.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }

    private static func sequence(_ content: [UInt8]) -> [UInt8] { [0x30, UInt8(content.count)] + content }
}
