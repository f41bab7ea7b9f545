import Foundation
import Testing

@testable import Keys

/// Keys under the agent's secret alone.
@Suite struct SealedKeyTests {
    let secret: AgentSecret
    let key: SigningKey
    let sealed: [UInt8]

    init() throws {
        (secret, key) = (try .generate(), try .generate(.es256))
        sealed = try secret.seal(key, label: "enrollment-1")
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a key of each algorithm comes back from 500 bytes at most, and signs`(algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        let sealed = try secret.seal(key, label: "enrollment-2")
        let again = try secret.openKey(sealed, label: "enrollment-2")
        #expect(again.publicKey == key.publicKey)
        #expect(try key.publicKey.isValid(signature: again.signature(over: [1]), over: [1]))
        #expect(sealed.count <= 500)
        try secret.checkKey(sealed, label: "enrollment-2")
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `inside the seal is the key as openssl writes it`(algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        let clear = try secret.open(secret.seal(key, label: "enrollment-2"), label: "enrollment-2").revealed
        let again = try OpenSSLCommand.run(
            "pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-outform", "DER", input: clear)
        #expect(again == clear)
        let publicKey = try OpenSSLCommand.run(
            "pkey", "-inform", "DER", "-pubout", "-outform", "DER", input: clear)
        #expect(publicKey == key.publicKey.subjectPublicKeyInfo)
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a key that openssl made is read if it is in the one form, and any byte changed there is no key of ours`(
        algorithm: SignatureAlgorithm
    ) throws {
        let kind =
            switch algorithm {
            case .es256: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            case .es384: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]
            case .eddsa: ["-algorithm", "ED25519"]
            }
        let clear = try OpenSSLCommand.run(
            "pkcs8", "-topk8", "-nocrypt", "-outform", "DER", input: OpenSSLCommand.generateKey(kind))
        let key = try #require(try SigningKey.reading(privateKeyInfo: Secret(clear)))
        let publicKey = try OpenSSLCommand.run("pkey", "-inform", "DER", "-pubout", "-outform", "DER", input: clear)
        #expect(key.publicKey.subjectPublicKeyInfo == publicKey)
        #expect(try key.publicKey.isValid(signature: key.signature(over: [1]), over: [1]))
        for index in clear.indices {
            var changed = clear
            changed[index] ^= 0x80
            // Of what is left after the form, a number is another key, and a point that is on no curve is none.
            let other = try? SigningKey.reading(privateKeyInfo: Secret(changed))
            #expect((try? other?.provesItself()) != true || algorithm == .eddsa, "byte \(index)")
        }
        #expect(try SigningKey.reading(privateKeyInfo: Secret(clear + [0])) == nil)
        #expect(try SigningKey.reading(privateKeyInfo: Secret(Array(clear.dropLast()))) == nil)
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `neither another secret nor another label opens it`() throws {
        let expected = SealedKeyError.seal(.notSealedByThisSecret)
        #expect(throws: expected) { try secret.openKey(sealed, label: "enrollment-2") }
        let other = try AgentSecret.generate()
        #expect(throws: expected) { try other.openKey(sealed, label: "enrollment-1") }
        #expect(throws: expected) { try other.checkKey(sealed, label: "enrollment-1") }
    }

    @Test func `with any byte changed, or cut, it does not open, and no check passes`() throws {
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(throws: SealedKeyError.self, "byte \(index)") { try secret.openKey(changed, label: "enrollment-1") }
        }
        #expect(throws: SealedKeyError.seal(.notSealedByThisSecret)) {
            try secret.checkKey(Array(sealed.dropLast()), label: "enrollment-1")
        }
        #expect(throws: SealedKeyError.seal(.malformed)) { try secret.checkKey([], label: "enrollment-1") }
    }

    @Test func `what was sealed and is no key is refused`() throws {
        let other = try secret.seal(Secret([1, 2, 3]), label: "enrollment-1")
        for look in [secret.checkKey, { _ = try secret.openKey($0, label: $1) }] {
            let error = #expect(throws: SealedKeyError.self) { try look(other, "enrollment-1") }
            guard case .key = error else { return #expect(Bool(false), "it is no key") }
        }
    }

    @Test func `the private key is nowhere in the sealed bytes`() throws {
        // Of a key that openssl holds in clear, so that the test knows the bytes.
        let clear = try OpenSSLCommand.run(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-outform", "DER")
        let encrypted = try OpenSSLCommand.run(
            "pkcs8", "-topk8", "-inform", "DER", "-outform", "DER", "-passout", "pass:secret", input: clear)
        let known = try SigningKey(encryptedPKCS8: encrypted, passphrase: Secret("secret"))
        let sealed = Data(try secret.seal(known, label: "l"))
        // RFC 5958 and RFC 5915: the 32 bytes of the private key follow 02 01 01 04 20.
        let start = try #require(Data(clear).range(of: Data([0x02, 0x01, 0x01, 0x04, 0x20]))).upperBound
        for piece in stride(from: start, to: start + 32, by: 8) {
            #expect(sealed.range(of: Data(clear[piece..<piece + 8])) == nil)
        }
        #expect(sealed.range(of: Data(known.publicKey.material.bytes.prefix(32))) == nil)
    }
}
