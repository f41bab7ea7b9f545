import Glibc
import ScratchDirectories
import Testing

@testable import DurableFiles
@testable import Keys

/// Keys in files that `openssl` made.
@Suite struct FileKeyTests {
    let scratch: ScratchDirectory
    let keys = ExternalKeys(pkcs11Module: nil)
    let uri: KeyURI

    init() throws {
        scratch = try ScratchDirectory()
        uri = try KeyURI("file:" + scratch("key"))
    }

    private func write(_ bytes: [UInt8], mode: mode_t = 0o600) throws {
        try DurableFile.write(bytes, to: scratch("key"), mode: mode, replacing: true)
    }

    private func reason(pin: String? = nil) -> ExternalKeyError.Reason? {
        let error = #expect(throws: ExternalKeyError.self) { try keys.proven(uri, pin: pin.map { Secret($0) }) }
        #expect(OpenSSLError.queueIsEmpty)
        #expect(error?.description.contains(uri.text) == true)
        return error?.reason
    }

    @Test(arguments: SignatureAlgorithm.allCases, ["PEM", "DER"])
    func `a key in clear signs, and is exportable`(algorithm: SignatureAlgorithm, form: String) throws {
        let bytes = try OpenSSLCommand.generateKey(algorithm.opensslArguments + ["-outform", form])
        try write(bytes)
        let facts = try keys.proven(uri, pin: nil)
        #expect(facts.kind == .file && facts.isExportable == true)
        let publicKey = try OpenSSLCommand.run("pkey", "-inform", form, "-pubout", "-outform", "DER", input: bytes)
        #expect(facts.publicKey.subjectPublicKeyInfo == publicKey)
        let signature = try keys.signature(over: [1], with: uri, expecting: facts.publicKey, pin: nil)
        #expect(try facts.publicKey.isValid(signature: signature, over: [1]))
    }

    @Test func `a key in the older form, behind its parameters, signs too`() throws {
        try write(try OpenSSLCommand.run("ecparam", "-name", "prime256v1", "-genkey"))
        #expect(try keys.proven(uri, pin: nil).publicKey.algorithm == .es256)
    }

    @Test func `without its passphrase it is seen which file a URI names, by whatever way`() throws {
        let clear = try OpenSSLCommand.generateKey(SignatureAlgorithm.es256.opensslArguments)
        try write(try OpenSSLCommand.run("pkcs8", "-topk8", "-scrypt", "-passout", "pass:2468", input: clear))
        #expect(unsafe symlink(scratch("."), scratch("way")) == 0)
        let seen = try keys.sighting(uri)
        for path in ["way/key", "./key", "way/%6Bey", "way/../\(scratch("").split(separator: "/").last ?? "")/key"] {
            #expect(try keys.sighting(KeyURI("file:" + scratch(path))) == seen)
        }
        #expect(try keys.sighting(KeyURI("FILE://" + scratch("key"))) == seen)
    }

    @Test func `an encrypted key takes its passphrase as the PIN, and no other`() throws {
        let clear = try OpenSSLCommand.generateKey(SignatureAlgorithm.es256.opensslArguments)
        try write(try OpenSSLCommand.run("pkcs8", "-topk8", "-scrypt", "-passout", "pass:2468", input: clear))
        #expect(try keys.proven(uri, pin: Secret("2468")).publicKey.algorithm == .es256)
        for wrong in ["2469", "", "24680", "246", String(repeating: "1", count: 2_000)] {
            #expect(reason(pin: wrong) == .wrongPIN(.notTold))
        }
        #expect(reason() == .needsPIN)
    }

    @Test func `a key in clear is not used with a PIN, which nothing would check`() throws {
        try write(try OpenSSLCommand.generateKey(SignatureAlgorithm.es256.opensslArguments))
        #expect(reason(pin: "2468") == .takesNoPIN)
    }

    @Test func `another key at the same path does not sign`() throws {
        try write(try OpenSSLCommand.generateKey(SignatureAlgorithm.es256.opensslArguments))
        let enrolled = try keys.proven(uri, pin: nil).publicKey
        try write(try OpenSSLCommand.generateKey(SignatureAlgorithm.es256.opensslArguments))
        let error = #expect(throws: ExternalKeyError.self) {
            try keys.signature(over: [1], with: uri, expecting: enrolled, pin: nil)
        }
        #expect(error?.reason == .replaced)
    }

    @Test func `a truncated key, or none, is unreadable`() throws {
        let key = try OpenSSLCommand.generateKey(SignatureAlgorithm.es256.opensslArguments)
        let publicKey = try OpenSSLCommand.run("pkey", "-pubout", input: key)
        for bytes in [[], Array(key.prefix(key.count / 2)), Array(key.dropLast(30)), publicKey, [0x30, 0x82, 0xFF]] {
            try write(bytes)
            guard case .unreadable = reason() else {
                Issue.record("\(bytes.count) bytes were used")
                continue
            }
        }
    }

    @Test func `two keys in one file are one too many`() throws {
        let key = try OpenSSLCommand.generateKey(SignatureAlgorithm.es256.opensslArguments)
        try write(key + key)
        #expect(reason() == .ambiguous("the file holds 2 private keys"))
    }

    @Test(arguments: ["RSA -pkeyopt rsa_keygen_bits:2048", "EC -pkeyopt ec_paramgen_curve:P-521", "ED448"])
    func `a key of another kind is not supported`(kind: String) throws {
        try write(try OpenSSLCommand.generateKey(["-algorithm"] + kind.split(separator: " ").map(String.init)))
        guard case .unsupported = reason() else {
            Issue.record("it was used")
            return
        }
    }

    @Test func `a file that others may read, a link, a directory and no file are refused`() throws {
        let key = try OpenSSLCommand.generateKey(SignatureAlgorithm.es256.opensslArguments)
        for mode: mode_t in [0o640, 0o604] {
            try write(key, mode: mode)
            #expect(
                reason() == .file(FileError(path: scratch("key"), reason: .tooPermissive(mode: mode, advised: "0600"))))
        }
        try write(key)
        for (name, wrong) in [("link", FileError.Reason.notRegularFile), ("none", .missing), (".", .notRegularFile)] {
            if name == "link" { #expect(unsafe symlink(scratch("key"), scratch(name)) == 0) }
            let error = #expect(throws: ExternalKeyError.self) {
                try keys.proven(KeyURI("file:" + scratch(name)), pin: nil)
            }
            #expect(error?.reason == .file(FileError(path: scratch(name), reason: wrong)))
        }
        try write(key + [UInt8](repeating: 0x0A, count: FileKey.maxBytes))
        #expect(reason() == .file(FileError(path: scratch("key"), reason: .tooLarge(maxBytes: FileKey.maxBytes))))
    }
}
