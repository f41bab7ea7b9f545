import DurableFiles
import ScratchDirectories
import Testing

@testable import Keys

@Suite struct PKCS8Tests {
    let key: SigningKey
    let pin: PIN

    private var passphrase: Secret { pin.secret }

    init() throws {
        key = try SigningKey.generate(.es256)
        pin = try PIN(Secret("correct horse battery staple"))
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a key comes back under its PIN, and signs`(algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        let encrypted = try key.encryptedPKCS8(pin: pin)
        let again = try SigningKey(encryptedPKCS8: encrypted, passphrase: passphrase)
        #expect(again.publicKey == key.publicKey && again.algorithm == algorithm)
        #expect(try key.publicKey.isValid(signature: again.signature(over: [1]), over: [1]))
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `openssl pkey opens our key with the PIN on its standard input`(algorithm: SignatureAlgorithm) throws {
        let (scratch, key) = (try ScratchDirectory(), try SigningKey.generate(algorithm))
        let encrypted = try key.encryptedPKCS8(pin: pin)
        try DurableFile.write(encrypted, to: scratch("key.der"), replacing: false)
        let publicKey = try OpenSSLCommand.run(
            "pkey", "-in", scratch("key.der"), "-inform", "DER", "-passin", "stdin", "-pubout", "-outform", "DER",
            input: passphrase.revealed)
        #expect(publicKey == key.publicKey.subjectPublicKeyInfo)
        #expect(throws: OpenSSLCommand.Failure.self) {
            try OpenSSLCommand.run(
                "pkey", "-in", scratch("key.der"), "-inform", "DER", "-passin", "stdin", "-noout", input: [0x78])
        }
    }

    @Test(arguments: SignatureAlgorithm.allCases, ["aes-256-cbc", "aes-128-cbc"])
    func `a key that openssl made opens here`(algorithm: SignatureAlgorithm, cipher: String) throws {
        let pem = try OpenSSLCommand.generateKey(algorithm.opensslArguments)
        let scratch = try ScratchDirectory()
        try DurableFile.write(passphrase.revealed, to: scratch("passphrase"), replacing: false)
        let encrypted = try OpenSSLCommand.run(
            "pkcs8", "-topk8", "-v2", cipher, "-outform", "DER", "-passout", "file:" + scratch("passphrase"), input: pem
        )
        let loaded = try SigningKey(encryptedPKCS8: encrypted, passphrase: passphrase)
        let publicKey = try OpenSSLCommand.run("pkey", "-pubout", "-outform", "DER", input: pem)
        #expect(loaded.publicKey.subjectPublicKeyInfo == publicKey)
    }

    @Test(arguments: [
        "EC -pkeyopt ec_paramgen_curve:P-521", "EC -pkeyopt ec_paramgen_curve:secp256k1", "ED448", "X25519",
        "RSA -pkeyopt rsa_keygen_bits:2048",
    ])
    func `a key of another kind is not supported`(kind: String) throws {
        let pem = try OpenSSLCommand.generateKey(["-algorithm"] + kind.split(separator: " ").map(String.init))
        let encrypted = try OpenSSLCommand.run(
            "pkcs8", "-topk8", "-outform", "DER", "-passout", "pass:secret", input: pem)
        #expect(throws: KeyError.unsupported("it is on neither P-256, P-384 nor Ed25519")) {
            try SigningKey(encryptedPKCS8: encrypted, passphrase: Secret("secret"))
        }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `another passphrase does not open it, and leaves no error behind`() throws {
        let encrypted = try key.encryptedPKCS8(pin: pin)
        for other in ["", "correct horse battery stapl", "correct horse battery staple\n"] {
            let error = #expect(throws: KeyError.self) {
                try SigningKey(encryptedPKCS8: encrypted, passphrase: Secret(other))
            }
            #expect(error?.description.hasPrefix("the passphrase does not open this key") == true)
            #expect(OpenSSLError.queueIsEmpty)
        }
    }

    @Test func `cut or lengthened bytes are malformed`() throws {
        let encrypted = try key.encryptedPKCS8(pin: pin)
        for damaged in [[], Array(encrypted.dropLast()), encrypted + [0], [UInt8](repeating: 0x30, count: 64)] {
            let error = #expect(throws: KeyError.self) {
                try SigningKey(encryptedPKCS8: damaged, passphrase: passphrase)
            }
            #expect(error?.description.hasPrefix("the key's encoding is malformed") == true)
            #expect(OpenSSLError.queueIsEmpty)
        }
    }

    // RFC 5915 §3: the public key comes last, as coordinates. (PKCS#8 has an Ed25519 key without its public half.)
    @Test(arguments: [(SignatureAlgorithm.es256, 64), (.es384, 96)])
    func `a private key with the public key of another is malformed`(algorithm: SignatureAlgorithm, count: Int) throws {
        let (first, second) = (try Self.clearPKCS8(algorithm), try Self.clearPKCS8(algorithm))
        let mixed = first.dropLast(count) + second.suffix(count)
        let encrypted = try OpenSSLCommand.run(
            "pkcs8", "-topk8", "-inform", "DER", "-outform", "DER", "-passout", "pass:secret", input: Array(mixed))
        let error = #expect(throws: KeyError.self) {
            try SigningKey(encryptedPKCS8: encrypted, passphrase: Secret("secret"))
        }
        #expect(error?.description.hasPrefix("the key's encoding is malformed") == true)
        #expect(OpenSSLError.queueIsEmpty)
    }

    private static func clearPKCS8(_ algorithm: SignatureAlgorithm) throws -> [UInt8] {
        try OpenSSLCommand.generateKey(algorithm.opensslArguments + ["-outform", "DER"])
    }

    @Test func `the same key is encrypted to other bytes each time`() throws {
        #expect(try key.encryptedPKCS8(pin: pin) != key.encryptedPKCS8(pin: pin))
    }
}
