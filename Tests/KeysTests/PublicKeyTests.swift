import Testing

@testable import Keys

@Suite struct PublicKeyTests {
    // RFC 6979 §A.2.5: the key on P-256.
    static let x = octets("60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6")
    static let y = octets("7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
    // FIPS 186-4 §D.1.2.3: the field's prime.
    static let prime = octets("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")

    @Test func `a point of the curve is a key, with the coordinates as they were`() throws {
        let key = try PublicKey(p256X: Self.x, p256Y: Self.y)
        #expect(key.x == Self.x && key.y == Self.y && key.algorithm == .es256)
    }

    @Test(arguments: [(x, x), ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32)), (prime, y), (y, x)])
    func `coordinates that are no point are refused`(x: [UInt8], y: [UInt8]) {
        #expect(throws: KeyError.notOnCurve) { try PublicKey(p256X: x, p256Y: y) }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test(arguments: 0..<64)
    func `a point with one bit changed is refused`(octet: Int) {
        var point = Self.x + Self.y
        point[octet] ^= 0x01
        // Half of all x are on the curve, but never with this y; and every x has two y, not adjacent ones.
        #expect(throws: KeyError.notOnCurve) {
            try PublicKey(p256X: Array(point.prefix(32)), p256Y: Array(point.suffix(32)))
        }
    }

    @Test(arguments: [(31, 32), (33, 32), (32, 31), (32, 33), (0, 0), (64, 0)])
    func `coordinates of another length are refused`(x: Int, y: Int) {
        #expect(throws: KeyError.malformed(nil)) {
            try PublicKey(p256X: [UInt8](repeating: 1, count: x), p256Y: [UInt8](repeating: 1, count: y))
        }
    }

    @Test func `the SubjectPublicKeyInfo and the PEM are what openssl writes`() throws {
        let pem = try OpenSSLCommand.run("ecparam", "-name", "prime256v1", "-genkey", "-noout")
        let der = try OpenSSLCommand.run("pkey", "-pubout", "-outform", "DER", input: pem)
        let key = try PublicKey(subjectPublicKeyInfo: der)
        #expect(key.subjectPublicKeyInfo == der)
        #expect(try Array(key.pem.utf8) == OpenSSLCommand.run("pkey", "-pubout", input: pem))
    }

    @Test(arguments: ["-pubout -outform DER -ec_conv_form compressed", "-pubout -outform DER -ec_param_enc explicit"])
    func `another form of the same key is not supported`(form: String) throws {
        let pem = try OpenSSLCommand.run("ecparam", "-name", "prime256v1", "-genkey", "-noout")
        let words = form.split(separator: " ").map(String.init)
        let der = try OpenSSLCommand.run("pkey", words[0], words[1], words[2], words[3], words[4], input: pem)
        #expect(throws: KeyError.unsupported("it is not P-256 by name with an uncompressed point")) {
            try PublicKey(subjectPublicKeyInfo: der)
        }
    }

    @Test(arguments: ["EC ec_paramgen_curve:P-384", "RSA rsa_keygen_bits:2048", "EC ec_paramgen_curve:secp256k1"])
    func `a key of another kind is not supported`(kind: String) throws {
        let words = kind.split(separator: " ").map(String.init)
        let pem = try OpenSSLCommand.run("genpkey", "-algorithm", words[0], "-pkeyopt", words[1])
        let der = try OpenSSLCommand.run("pkey", "-pubout", "-outform", "DER", input: pem)
        #expect(throws: KeyError.unsupported("it is not P-256 by name with an uncompressed point")) {
            try PublicKey(subjectPublicKeyInfo: der)
        }
    }

    @Test func `octets that are no key are malformed, and the queue stays empty`() throws {
        let whole = try PublicKey(p256X: Self.x, p256Y: Self.y).subjectPublicKeyInfo
        let infinity = Array(whole.prefix(1)) + [25] + whole[2..<23] + [0x03, 0x02, 0x00, 0x00]
        for octets in [[], [0x30], Array(whole.dropLast()), whole + [0], infinity] {
            let error = #expect(throws: KeyError.self) { try PublicKey(subjectPublicKeyInfo: octets) }
            #expect(error?.description.contains("malformed") == true)
            #expect(OpenSSLError.queueIsEmpty)
        }
    }

    @Test func `keys are equal when their points are`() throws {
        let key = try PublicKey(p256X: Self.x, p256Y: Self.y)
        #expect(try key == PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo))
        #expect(try key != SigningKey.generate(.es256).publicKey)
    }
}
