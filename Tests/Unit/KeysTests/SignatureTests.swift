import DurableFiles
import ScratchDirectories
import Testing

@testable import Keys

@Suite struct SignatureTests {
    let message = Array("an authn request".utf8)

    @Test(arguments: KnownSignature.all)
    func `the standards' signatures hold, as WebAuthn and as a JWS has them`(known: KnownSignature) throws {
        let key = try PublicKey(known.material)
        #expect(try key.isValid(rawSignature: known.raw, over: known.message))
        #expect(try key.isValid(signature: known.signature, over: known.message))
        #expect(try !key.isValid(signature: known.signature, over: known.message + [0]))
        #expect(try !key.isValid(rawSignature: known.raw, over: known.message + [0]))
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a signature holds for its message and its key only, in both forms`(algorithm: SignatureAlgorithm) throws {
        let (key, other) = (try SigningKey.generate(algorithm), try SigningKey.generate(algorithm).publicKey)
        let (signature, raw) = (try key.signature(over: message), try key.rawSignature(over: message))
        #expect(try key.publicKey.isValid(signature: signature, over: message))
        #expect(try key.publicKey.isValid(rawSignature: raw, over: message))
        #expect(try !key.publicKey.isValid(signature: signature, over: message + [0]))
        #expect(try !key.publicKey.isValid(rawSignature: raw, over: []))
        #expect(try !other.isValid(signature: signature, over: message))
        #expect(try !other.isValid(rawSignature: raw, over: message))
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test(arguments: [(SignatureAlgorithm.es256, 72, 64), (.es384, 104, 96), (.eddsa, 64, 64)])
    func `a signature has its length`(algorithm: SignatureAlgorithm, limit: Int, raw: Int) throws {
        let key = try SigningKey.generate(algorithm)
        #expect(try key.signature(over: message).count <= limit)
        #expect(try key.rawSignature(over: message).count == raw)
    }

    @Test(arguments: SignatureAlgorithm.allCases, SignatureAlgorithm.allCases)
    func `a signature of one algorithm does not hold under a key of another`(
        one: SignatureAlgorithm, other: SignatureAlgorithm
    ) throws {
        let (key, stranger) = (try SigningKey.generate(one), try SigningKey.generate(other).publicKey)
        #expect(try !stranger.isValid(signature: key.signature(over: message), over: message))
        #expect(try !stranger.isValid(rawSignature: key.rawSignature(over: message), over: message))
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `an empty message can be signed`(algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        #expect(try key.publicKey.isValid(signature: key.signature(over: []), over: []))
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a signature with any byte changed, cut or lengthened does not hold`(algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        let signature = try key.signature(over: message)
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 0x40
            #expect(try !key.publicKey.isValid(signature: changed, over: message), "byte \(index)")
            #expect(try !key.publicKey.isValid(signature: Array(signature[..<index]), over: message))
            #expect(OpenSSLError.queueIsEmpty)
        }
        #expect(try !key.publicKey.isValid(signature: signature + [0], over: message))
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a raw signature of another length, of zeros or out of range does not hold`(
        algorithm: SignatureAlgorithm
    ) throws {
        let key = try SigningKey.generate(algorithm)
        let raw = try key.rawSignature(over: message)
        let half = raw.count / 2
        let (r, s) = (Array(raw[..<half]), Array(raw[half...]))
        let (zeros, ones) = ([UInt8](repeating: 0, count: half), [UInt8](repeating: 0xFF, count: half))
        let refused = [[], [0], Array(raw.dropLast()), raw + [0], zeros + zeros, zeros + s, r + zeros, ones + ones]
        for signature in refused {
            #expect(try !key.publicKey.isValid(rawSignature: signature, over: message))
            #expect(OpenSSLError.queueIsEmpty)
        }
    }

    @Test func `a DER signature in a laxer encoding does not hold`() throws {
        let key = try SigningKey.generate(.es256)
        let raw = try key.rawSignature(over: message)
        let padded: [UInt8] = [0x30, 0x48, 0x02, 0x22, 0, 0] + raw[..<32] + [0x02, 0x22, 0, 0] + raw[32...]
        #expect(try !key.publicKey.isValid(signature: padded, over: message))
        #expect(OpenSSLError.queueIsEmpty)
    }

    // Each number: with the high bit set (DER adds a zero byte), with leading zero bytes (DER drops them), zero, one.
    static let numbers =
        ["ff", "80", "7f", "0080", "007f", "0000ff", "00", "0001"].map { start in
            bytes(start) + [UInt8](repeating: start == "00" ? 0 : 0x5A, count: 32 - bytes(start).count)
        } + [[UInt8](repeating: 0, count: 31) + [1], [UInt8](repeating: 0, count: 31) + [0x80]]

    @Test(arguments: numbers, numbers)
    func `raw and DER give each other back at every edge`(r: [UInt8], s: [UInt8]) throws {
        let signature = try ECDSASignature.reading(raw: r + s, numberCount: 32)
        let der = try signature?.der() ?? []
        #expect(der == Self.sequence(Self.integer(r) + Self.integer(s)))
        #expect(try ECDSASignature.reading(der: der).raw(numberCount: 32) == r + s)
    }

    @Test(arguments: [32, 48])
    func `a number longer than the curve's has no raw form`(count: Int) throws {
        let long = Self.sequence(Self.integer([1] + [UInt8](repeating: 0, count: count)) + Self.integer([1]))
        #expect(throws: OpenSSLError.self) { try ECDSASignature.reading(der: long).raw(numberCount: count) }
        let half = Self.sequence(Self.integer([1]))
        #expect(throws: OpenSSLError.self) { try ECDSASignature.reading(der: half).raw(numberCount: count) }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `openssl verifies our signature, and we verify its`(algorithm: SignatureAlgorithm) throws {
        let (scratch, key) = (try ScratchDirectory(), try SigningKey.generate(algorithm))
        let (publicKey, signature) = (scratch("public.pem"), scratch("signature"))
        try DurableFile.write(Array(key.publicKey.pem.utf8), to: publicKey, replacing: false)
        try DurableFile.write(key.signature(over: message), to: signature, replacing: false)
        try OpenSSLCommand.verify(message, algorithm, publicKey: publicKey, signature: signature, in: scratch)

        let theirs = scratch("theirs.pem")
        try DurableFile.write(
            OpenSSLCommand.generateKey(algorithm.opensslArguments), to: theirs, replacing: false)
        let der = try OpenSSLCommand.run("pkey", "-in", theirs, "-pubout", "-outform", "DER")
        let made = try OpenSSLCommand.sign(message, algorithm, key: theirs, in: scratch)
        #expect(try PublicKey(subjectPublicKeyInfo: der).isValid(signature: made, over: message))
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `one key signs on many threads at once`(algorithm: SignatureAlgorithm) async throws {
        let (key, message) = (try SigningKey.generate(algorithm), message)
        let valid = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask { try key.publicKey.isValid(signature: key.signature(over: message), over: message) }
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
