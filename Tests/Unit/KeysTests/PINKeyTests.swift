import DurableFiles
import ScratchDirectories
import Testing

@testable import Keys

@Suite struct PINKeyTests {
    let secret: AgentSecret
    let key: SigningKey
    let pin: PIN
    let sealed: [UInt8]

    init() throws {
        (secret, key) = (try .generate(), try .generate(.es256))
        pin = try PIN(Secret("736251"))
        sealed = try secret.seal(key, label: "enrollment-1", pin: pin)
    }

    private func open(_ pin: PIN?, _ sealed: [UInt8]? = nil) throws(SealedKeyError) -> SigningKey {
        try secret.openKey(sealed ?? self.sealed, label: "enrollment-1", pin: pin)
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a key under a PIN comes back with it, and signs`(algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        let sealed = try secret.seal(key, label: "l", pin: pin)
        let again = try secret.openKey(sealed, label: "l", pin: pin)
        #expect(again.publicKey == key.publicKey)
        #expect(try key.publicKey.isValid(signature: again.signature(over: [1]), over: [1]))
        #expect(sealed.count <= 500)
    }

    @Test func `with another PIN or none it does not open, and a check takes none`() throws {
        for other in ["736252", "73625", "7362510", "736251 "] {
            let wrong = try PIN(Secret(other))
            #expect(throws: SealedKeyError.wrongPIN) { try open(wrong) }
        }
        #expect(throws: SealedKeyError.needsPIN) { try open(nil) }
        try secret.checkKey(sealed, label: "enrollment-1")
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `a key under no PIN does not open with one, which nothing would check`() throws {
        let sealed = try secret.seal(key, label: "enrollment-1")
        #expect(throws: SealedKeyError.takesNoPIN) { try open(pin, sealed) }
        #expect(try open(nil, sealed).publicKey == key.publicKey)
    }

    @Test func `another secret, or any byte changed, is found before the PIN is tried`() throws {
        let (other, wrong) = (try AgentSecret.generate(), try PIN(Secret("1357")))
        let expected = SealedKeyError.seal(.notSealedByThisSecret)
        for pin in [wrong, pin] {
            #expect(throws: expected) { try other.openKey(sealed, label: "enrollment-1", pin: pin) }
        }
        for index in sealed.indices.dropFirst() {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(throws: expected, "byte \(index)") { try open(wrong, changed) }
        }
    }

    @Test func `inside the seal is a key under scrypt of 16 MiB, which openssl opens with the PIN`() throws {
        let scratch = try ScratchDirectory()
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

    @Test func `the PIN is nowhere in the sealed bytes, and each sealing gives others`() throws {
        let inner = try secret.open(sealed, label: "enrollment-1").revealed
        #expect(sealed.firstRange(of: pin.secret.revealed) == nil && inner.firstRange(of: pin.secret.revealed) == nil)
        let second = try secret.seal(key, label: "enrollment-1", pin: pin)
        #expect(try secret.open(second, label: "enrollment-1").revealed != inner)
    }
}
