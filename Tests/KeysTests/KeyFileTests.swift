import Foundation
import Glibc
import ScratchDirectories
import Testing

@testable import DurableFiles
@testable import Keys

@Suite struct KeyFileTests {
    let scratch: ScratchDirectory
    let secret: AgentSecret
    let key: SigningKey

    init() throws {
        (scratch, secret, key) = (try ScratchDirectory(), try .generate(), try .generate(.es256))
        try KeyFile.write(key, to: scratch("key"), secret: secret, label: "enrollment-1")
    }

    @Test func `a key comes back from its file and signs`() throws {
        let again = try KeyFile.read(path: scratch("key"), secret: secret, label: "enrollment-1").key
        #expect(again.publicKey == key.publicKey)
        #expect(try key.publicKey.isValid(signature: again.signature(over: [1]), over: [1]))
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch("key"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a key of each algorithm comes back, from a file of 500 bytes at most`(algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        try KeyFile.write(key, to: scratch("other"), secret: secret, label: "enrollment-2")
        let again = try KeyFile.read(path: scratch("other"), secret: secret, label: "enrollment-2").key
        #expect(again.publicKey == key.publicKey)
        #expect(try key.publicKey.isValid(signature: again.signature(over: [1]), over: [1]))
        #expect(try DurableFile.read(scratch("other"), maxBytes: KeyFile.maxBytes).count <= 500)
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `inside the seal is the key as openssl writes it`(algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        try KeyFile.write(key, to: scratch("other"), secret: secret, label: "enrollment-2")
        let sealed = try DurableFile.read(scratch("other"), maxBytes: KeyFile.maxBytes)
        let clear = try secret.open(sealed, label: "enrollment-2").revealed
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

    @Test func `a file of an earlier version is read, and says so`() throws {
        let passphrase = try secret.passphrase(for: "enrollment-1")
        let old = try secret.seal(Secret(key.encryptedPKCS8(passphrase: passphrase)), label: "enrollment-1")
        try DurableFile.write(old, to: scratch("key"), replacing: true)
        let read = try KeyFile.read(path: scratch("key"), secret: secret, label: "enrollment-1")
        #expect(read.key.publicKey == key.publicKey && read.isOutdated)
        try KeyFile.write(read.key, to: scratch("key"), secret: secret, label: "enrollment-1", replacing: true)
        #expect(try !KeyFile.read(path: scratch("key"), secret: secret, label: "enrollment-1").isOutdated)
    }

    @Test func `neither another secret nor another label opens it, and the error says the path`() throws {
        let expected = KeyFileError.seal(path: scratch("key"), .notSealedByThisSecret)
        #expect(throws: expected) { try KeyFile.read(path: scratch("key"), secret: secret, label: "enrollment-2") }
        let other = try AgentSecret.generate()
        #expect(throws: expected) { try KeyFile.read(path: scratch("key"), secret: other, label: "enrollment-1") }
        #expect(expected.description.contains(scratch("key")))
    }

    @Test func `a file with any byte changed does not open`() throws {
        let sealed = try DurableFile.read(scratch("key"), maxBytes: KeyFile.maxBytes)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x80
            try DurableFile.write(changed, to: scratch("key"), replacing: true)
            #expect(throws: KeyFileError.self, "byte \(index)") {
                try KeyFile.read(path: scratch("key"), secret: secret, label: "enrollment-1")
            }
        }
    }

    @Test func `an existing key is never overwritten`() throws {
        let other = try SigningKey.generate(.es256)
        #expect(throws: KeyFileError.file(FileError(path: scratch("key"), reason: .exists))) {
            try KeyFile.write(other, to: scratch("key"), secret: secret, label: "enrollment-1")
        }
        let read = try KeyFile.read(path: scratch("key"), secret: secret, label: "enrollment-1").key
        #expect(read.publicKey == key.publicKey)
    }

    @Test func `a file that others may read, or that is too large, is refused`() throws {
        #expect(unsafe chmod(scratch("key"), 0o640) == 0)
        let reason = FileError.Reason.tooPermissive(mode: 0o640, advised: "0600")
        #expect(throws: KeyFileError.file(FileError(path: scratch("key"), reason: reason))) {
            try KeyFile.read(path: scratch("key"), secret: secret, label: "enrollment-1")
        }
        try DurableFile.write([UInt8](repeating: 1, count: 16_385), to: scratch("key"), replacing: true)
        let large = FileError(path: scratch("key"), reason: .tooLarge(maxBytes: 16_384))
        #expect(throws: KeyFileError.file(large)) {
            try KeyFile.read(path: scratch("key"), secret: secret, label: "enrollment-1")
        }
    }

    @Test func `a missing file is an error to read and none to remove`() throws {
        try KeyFile.remove(path: scratch("key"))
        try KeyFile.remove(path: scratch("key"))
        #expect(throws: KeyFileError.file(FileError(path: scratch("key"), reason: .missing))) {
            try KeyFile.read(path: scratch("key"), secret: secret, label: "enrollment-1")
        }
    }

    @Test func `the private key is nowhere in the file`() throws {
        // Of a key that openssl holds in clear, so that the test knows the bytes.
        let clear = try OpenSSLCommand.run(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-outform", "DER")
        let encrypted = try OpenSSLCommand.run(
            "pkcs8", "-topk8", "-inform", "DER", "-outform", "DER", "-passout", "pass:secret", input: clear)
        let known = try SigningKey(encryptedPKCS8: encrypted, passphrase: Secret("secret"))
        try KeyFile.write(known, to: scratch("known"), secret: secret, label: "l")
        let file = Data(try DurableFile.read(scratch("known"), maxBytes: KeyFile.maxBytes))
        // RFC 5958 and RFC 5915: the 32 bytes of the private key follow 02 01 01 04 20.
        let start = try #require(Data(clear).range(of: Data([0x02, 0x01, 0x01, 0x04, 0x20]))).upperBound
        for piece in stride(from: start, to: start + 32, by: 8) {
            #expect(file.range(of: Data(clear[piece..<piece + 8])) == nil)
        }
        #expect(file.range(of: Data(known.publicKey.material.bytes.prefix(32))) == nil)
    }
}
