import DurableFiles
import ScratchDirectories
import Testing

@testable import Keys

@Suite struct PINKeyFileTests {
    let scratch: ScratchDirectory
    let secret: AgentSecret
    let key: SigningKey
    let pin: PIN

    init() throws {
        (scratch, secret, key) = (try ScratchDirectory(), try .generate(), try .generate(.es256))
        pin = try PIN(Secret("736251"))
        try KeyFile.write(key, to: scratch("key"), secret: secret, label: "enrollment-1", pin: pin)
    }

    private func read(_ pin: PIN?, _ secret: AgentSecret? = nil) throws(KeyFileError) -> SigningKey {
        try KeyFile.read(path: scratch("key"), secret: secret ?? self.secret, label: "enrollment-1", pin: pin).key
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a key under a PIN comes back with it, and signs`(algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        try KeyFile.write(key, to: scratch("other"), secret: secret, label: "l", pin: pin)
        let again = try KeyFile.read(path: scratch("other"), secret: secret, label: "l", pin: pin).key
        #expect(again.publicKey == key.publicKey)
        #expect(try key.publicKey.isValid(signature: again.signature(over: [1]), over: [1]))
        #expect(try DurableFile.read(scratch("other"), maxBytes: KeyFile.maxBytes).count <= 500)
    }

    @Test func `with another PIN or none it does not open`() throws {
        for other in ["736252", "73625", "7362510", "736251 "] {
            let wrong = try PIN(Secret(other))
            #expect(throws: KeyFileError.wrongPIN(path: scratch("key"))) { try read(wrong) }
        }
        #expect(throws: KeyFileError.needsPIN(path: scratch("key"))) { try read(nil) }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `a key under no PIN does not open with one, which nothing would check`() throws {
        try KeyFile.write(key, to: scratch("key"), secret: secret, label: "enrollment-1", replacing: true)
        #expect(throws: KeyFileError.takesNoPIN(path: scratch("key"))) { try read(pin) }
        // Of a file of an earlier version not even with the passphrase that it is under.
        let passphrase = try secret.passphrase(for: "enrollment-1")
        let old = try secret.seal(Secret(key.encryptedPKCS8(passphrase: passphrase)), label: "enrollment-1")
        try DurableFile.write(old, to: scratch("key"), replacing: true)
        #expect(throws: KeyFileError.takesNoPIN(path: scratch("key"))) { try read(PIN(passphrase)) }
        #expect(try read(nil).publicKey == key.publicKey)
    }

    @Test func `another secret, or any byte changed, is found before the PIN is tried`() throws {
        let (other, wrong) = (try AgentSecret.generate(), try PIN(Secret("1357")))
        let expected = KeyFileError.seal(path: scratch("key"), .notSealedByThisSecret)
        #expect(throws: expected) { try read(wrong, other) }
        #expect(throws: expected) { try read(pin, other) }
        let sealed = try DurableFile.read(scratch("key"), maxBytes: KeyFile.maxBytes)
        for index in sealed.indices.dropFirst() {
            var changed = sealed
            changed[index] ^= 0x80
            try DurableFile.write(changed, to: scratch("key"), replacing: true)
            #expect(throws: expected, "byte \(index)") { try read(wrong) }
        }
    }

    @Test func `inside the seal is a key under scrypt of 16 MiB, which openssl opens with the PIN`() throws {
        let sealed = try DurableFile.read(scratch("key"), maxBytes: KeyFile.maxBytes)
        let encrypted = try secret.open(sealed, label: "enrollment-1").revealed
        try DurableFile.write(encrypted, to: scratch("key.der"), replacing: false)
        let publicKey = try OpenSSLCommand.run(
            "pkey", "-in", scratch("key.der"), "-inform", "DER", "-passin", "stdin", "-pubout", "-outform", "DER",
            input: pin.secret.revealed)
        #expect(publicKey == key.publicKey.subjectPublicKeyInfo)
        let structure = String(
            decoding: try OpenSSLCommand.run("asn1parse", "-inform", "DER", "-in", scratch("key.der")), as: UTF8.self)
        // RFC 7914 §7: salt, N, r, p.
        for part in [
            "PBES2", "scrypt", "aes-256-cbc", "INTEGER           :4000", "INTEGER           :08",
            "INTEGER           :02",
        ] {
            #expect(structure.contains(part), "\(part)")
        }
    }

    @Test func `the PIN is nowhere in the file, and each writing gives other bytes`() throws {
        let first = try DurableFile.read(scratch("key"), maxBytes: KeyFile.maxBytes)
        let inner = try secret.open(first, label: "enrollment-1").revealed
        #expect(first.firstRange(of: pin.secret.revealed) == nil && inner.firstRange(of: pin.secret.revealed) == nil)
        try KeyFile.write(key, to: scratch("key"), secret: secret, label: "enrollment-1", pin: pin, replacing: true)
        let second = try DurableFile.read(scratch("key"), maxBytes: KeyFile.maxBytes)
        #expect(try secret.open(second, label: "enrollment-1").revealed != inner)
    }

    @Test func `under another PIN the same key is in the same file`() throws {
        let other = try PIN(Secret("1357"))
        try KeyFile.write(
            read(pin), to: scratch("key"), secret: secret, label: "enrollment-1", pin: other, replacing: true)
        #expect(try read(other).publicKey == key.publicKey)
        #expect(throws: KeyFileError.wrongPIN(path: scratch("key"))) { try read(pin) }
    }
}
