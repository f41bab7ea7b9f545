import Testing

@testable import Keys

@Suite struct PublicKeyTests {
    // FIPS 186-4 §D.1.2.3 and §D.1.2.4: the primes of the fields.
    static let prime256 = bytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    static let prime384 = bytes(
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff")

    @Test(arguments: KnownSignature.all)
    func `a point is a key for its algorithm, with the bytes as they were`(known: KnownSignature) throws {
        let key = try PublicKey(known.material)
        #expect(key.material == known.material && key.algorithm == known.material.algorithm)
        #expect(try key == PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo))
    }

    @Test(arguments: KnownSignature.all)
    func `what was kept of a key is that key`(known: KnownSignature) throws {
        let kept = try PublicKey(kept: PublicKey(known.material).subjectPublicKeyInfo)
        #expect(try kept == PublicKey(known.material))
        #expect(try kept.isValid(signature: known.signature, over: known.message))
    }

    @Test(arguments: offCurve)
    func `of what was kept of a key nothing is valid if it is on no curve`(material: PublicKeyMaterial) throws {
        let kept = try PublicKey(kept: SubjectPublicKeyInfo.encode(material))
        #expect(throws: OpenSSLError.self) { try kept.isValid(signature: KnownSignature.p256.signature, over: [1]) }
        #expect(throws: KeyError.self) { try PublicKey(kept: [0x30, 0x00]) }
    }

    static let offCurve: [PublicKeyMaterial] = {
        guard case .p256(let x, let y) = KnownSignature.p256.material,
            case .p384(let x384, let y384) = KnownSignature.p384.material
        else { return [] }
        let (zeros, zeros384) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 48))
        return [
            .p256(x: x, y: x), .p256(x: zeros, y: zeros), .p256(x: prime256, y: y), .p256(x: y, y: x),
            .p384(x: x384, y: x384), .p384(x: zeros384, y: zeros384), .p384(x: prime384, y: y384),
            .p384(x: y384, y: x384),
        ]
    }()

    @Test(arguments: offCurve)
    func `coordinates that are no point are refused`(material: PublicKeyMaterial) {
        #expect(throws: KeyError.notOnCurve) { try PublicKey(material) }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test(arguments: [KnownSignature.p256, .p384])
    func `a point with one bit changed is refused`(known: KnownSignature) throws {
        for byte in known.material.bytes.indices {
            var point = known.material.bytes
            point[byte] ^= 0x01
            // Half of all x are on the curve, but never with this y; and every x has two y, not adjacent ones.
            let changed = try #require(PublicKeyMaterial(known.material.algorithm, bytes: point[...]))
            #expect(throws: KeyError.notOnCurve, "byte \(byte)") { try PublicKey(changed) }
        }
    }

    @Test(arguments: [(31, 32), (33, 32), (32, 31), (32, 33), (31, 33), (0, 0), (64, 0), (48, 48)])
    func `coordinates of another length than P-256's are refused`(x: Int, y: Int) {
        #expect(throws: KeyError.malformed(nil)) { try PublicKey(.p256(x: ones(x), y: ones(y))) }
    }

    @Test(arguments: [(47, 48), (49, 48), (48, 47), (48, 49), (47, 49), (0, 0), (96, 0), (32, 32)])
    func `coordinates of another length than P-384's are refused`(x: Int, y: Int) {
        #expect(throws: KeyError.malformed(nil)) { try PublicKey(.p384(x: ones(x), y: ones(y))) }
    }

    @Test(arguments: [0, 31, 33, 57, 64])
    func `a point of another length than Ed25519's is refused`(count: Int) {
        #expect(throws: KeyError.malformed(nil)) { try PublicKey(.ed25519(ones(count))) }
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `the SubjectPublicKeyInfo and the PEM are what openssl writes`(algorithm: SignatureAlgorithm) throws {
        let pem = try OpenSSLCommand.generateKey(algorithm.opensslArguments)
        let der = try OpenSSLCommand.run("pkey", "-pubout", "-outform", "DER", input: pem)
        let key = try PublicKey(subjectPublicKeyInfo: der)
        #expect(key.algorithm == algorithm)
        #expect(key.subjectPublicKeyInfo == der)
        #expect(try Array(key.pem.utf8) == OpenSSLCommand.run("pkey", "-pubout", input: pem))
    }

    @Test(arguments: [SignatureAlgorithm.es256, .es384], ["-ec_conv_form compressed", "-ec_param_enc explicit"])
    func `another form of the same key is not supported`(algorithm: SignatureAlgorithm, form: String) throws {
        let pem = try OpenSSLCommand.generateKey(algorithm.opensslArguments)
        let words = form.split(separator: " ").map(String.init)
        let der = try OpenSSLCommand.run("pkey", "-pubout", "-outform", "DER", words[0], words[1], input: pem)
        #expect(throws: Self.unsupported) { try PublicKey(subjectPublicKeyInfo: der) }
    }

    @Test(arguments: [
        "EC -pkeyopt ec_paramgen_curve:P-521", "EC -pkeyopt ec_paramgen_curve:secp256k1", "ED448", "X25519",
        "RSA -pkeyopt rsa_keygen_bits:2048",
    ])
    func `a key of another kind is not supported`(kind: String) throws {
        let pem = try OpenSSLCommand.generateKey(["-algorithm"] + kind.split(separator: " ").map(String.init))
        let der = try OpenSSLCommand.run("pkey", "-pubout", "-outform", "DER", input: pem)
        #expect(throws: Self.unsupported) { try PublicKey(subjectPublicKeyInfo: der) }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test(arguments: KnownSignature.all)
    func `bytes that are no key are malformed, and the queue stays empty`(known: KnownSignature) throws {
        let whole = try PublicKey(known.material).subjectPublicKeyInfo
        for bytes in [[], [0x30], Array(whole.dropLast()), whole + [0]] {
            let error = #expect(throws: KeyError.self) { try PublicKey(subjectPublicKeyInfo: bytes) }
            #expect(error?.description.contains("malformed") == true)
            #expect(OpenSSLError.queueIsEmpty)
        }
    }

    @Test func `the point at infinity is malformed`() throws {
        let whole = try PublicKey(KnownSignature.p256.material).subjectPublicKeyInfo
        let infinity = Array(whole.prefix(1)) + [25] + whole[2..<23] + [0x03, 0x02, 0x00, 0x00]
        let error = #expect(throws: KeyError.self) { try PublicKey(subjectPublicKeyInfo: infinity) }
        #expect(error?.description.contains("malformed") == true)
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `keys are equal when their points and algorithms are`() throws {
        let keys = try KnownSignature.all.map { try PublicKey($0.material) }
        for (one, other) in keys.indices.flatMap({ one in keys.indices.map { (one, $0) } }) {
            #expect((keys[one] == keys[other]) == (one == other))
        }
    }

    private static let unsupported = KeyError.unsupported(
        "it is neither P-256 or P-384 by name with an uncompressed point, nor Ed25519")

    private func ones(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }
}
