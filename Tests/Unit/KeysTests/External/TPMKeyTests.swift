import DurableFiles
import SoftKeys
import Testing

@testable import Keys

/// Keys in a software TPM.
@Suite(.serialized) struct TPMKeyTests {
    let tpm: SoftTPM
    let keys = ExternalKeys(pkcs11Module: nil)
    let pin = Secret("2468")

    init() throws { tpm = try Places.tpm() }

    private func reason(_ uri: KeyURI, pin: Secret?) -> ExternalKeyError.Reason? {
        let error = #expect(throws: ExternalKeyError.self) { try keys.proven(uri, pin: pin) }
        #expect(OpenSSLError.queueIsEmpty)
        return error?.reason
    }

    @Test(arguments: [("ecc256", SignatureAlgorithm.es256), ("ecc384", .es384)])
    func `a persistent key signs, with its PIN alone`(curve: String, algorithm: SignatureAlgorithm) throws {
        let uri = try KeyURI(tpm.makeKey("0x81000001", pin: "2468", curve: curve))
        let facts = try keys.proven(uri, pin: pin)
        #expect(facts.kind == .tpm && facts.isExportable == false && facts.publicKey.algorithm == algorithm)
        let signature = try keys.signature(over: [1], with: uri, expecting: facts.publicKey, pin: pin)
        #expect(try facts.publicKey.isValid(signature: signature, over: [1]))
        #expect(reason(uri, pin: Secret("2469")) == .wrongPIN(.notTold))
        #expect(reason(uri, pin: nil) == .needsPIN)
    }

    @Test func `a persistent key without a PIN signs without, and not with one`() throws {
        let uri = try KeyURI(tpm.makeKey("0x81000002"))
        #expect(try keys.proven(uri, pin: nil).kind == .tpm)
        #expect(reason(uri, pin: pin) == .wrongPIN(.notTold))
    }

    @Test(arguments: [("P-256", SignatureAlgorithm.es256), ("P-384", .es384)])
    func `a TSS2 file's key signs, with its PIN alone`(group: String, algorithm: SignatureAlgorithm) throws {
        let uri = try KeyURI(tpm.makeFile("key.pem", pin: "2468", group: group))
        let facts = try keys.proven(uri, pin: pin)
        #expect(facts.kind == .tpm && facts.isExportable == false && facts.publicKey.algorithm == algorithm)
        #expect(reason(uri, pin: Secret("2469")) == .wrongPIN(.notTold))
        #expect(reason(uri, pin: nil) == .needsPIN)
    }

    @Test func `a TSS2 file's key without a PIN signs without, and not with one`() throws {
        let uri = try KeyURI(tpm.makeFile("key.pem"))
        #expect(try keys.proven(uri, pin: nil).kind == .tpm)
        #expect(reason(uri, pin: pin) == .takesNoPIN)
    }

    @Test func `a key that may be duplicated to another TPM is exportable`() throws {
        let uri = try KeyURI(tpm.makeKey("0x81000003", attributes: "sensitivedataorigin|userwithauth|sign"))
        #expect(try keys.proven(uri, pin: nil).isExportable == true)
    }

    @Test func `without a PIN it is seen which key a URI names, wherever its file is, and the TPM counts no try`()
        throws
    {
        try tpm.tool("tpm2_dictionarylockout", "--setup-parameters", "-n", "2", "-t", "600", "-l", "600")
        let file = try tpm.makeFile("key.pem", pin: "2468")
        let copy = file + ".copy"
        try ProgramRun.output(["cp", "-p", String(file.dropFirst(5)), String(copy.dropFirst(5))])
        let uris = [try KeyURI(file), try KeyURI(copy), try KeyURI(tpm.makeKey("0x81000001", pin: "2468"))]
        let seen = try uris.map { try keys.sighting($0) }
        #expect(seen[0] == seen[1] && seen[0].place != seen[2].place)
        for _ in 0..<5 { for uri in uris { _ = try keys.sighting(uri) } }
        for (uri, seen) in zip(uris, seen) { #expect(try keys.proven(uri, pin: pin).publicKey == seen.publicKey) }
    }

    @Test func `the TPM locks PINs after wrong ones, and says so`() throws {
        let uri = try KeyURI(tpm.makeKey("0x81000001", pin: "2468"))
        try tpm.tool("tpm2_dictionarylockout", "--setup-parameters", "-n", "2", "-t", "600", "-l", "600")
        #expect(reason(uri, pin: Secret("1")) == .wrongPIN(.notTold))
        #expect(reason(uri, pin: Secret("2")) == .wrongPIN(.notTold))
        #expect(reason(uri, pin: pin) == .pinLocked)
    }

    @Test func `a handle without a key, and a key of another kind, are refused`() throws {
        let rsa = try KeyURI(tpm.makeKey("0x81000005", curve: "rsa2048"))
        #expect(reason(try KeyURI("handle:0x81000009"), pin: nil) == .noSuchKey)
        guard case .unsupported = reason(rsa, pin: nil) else {
            Issue.record("it was used")
            return
        }
    }

    @Test func `another key than the enrolled one does not sign`() throws {
        let uri = try KeyURI(tpm.makeKey("0x81000001"))
        let other = try KeyURI(tpm.makeKey("0x81000002"))
        let enrolled = try keys.proven(other, pin: nil).publicKey
        let error = #expect(throws: ExternalKeyError.self) {
            try keys.signature(over: [1], with: uri, expecting: enrolled, pin: nil)
        }
        #expect(error?.reason == .replaced)
    }

    @Test func `a TPM that is gone is missed, and found when it is back`() throws {
        let uri = try KeyURI(tpm.makeKey("0x81000001", pin: "2468"))
        let publicKey = try keys.proven(uri, pin: pin).publicKey
        try tpm.stop()
        for _ in 1...2 {
            guard case .absent = reason(uri, pin: pin) else {
                Issue.record("the TPM answered")
                return
            }
        }
        try tpm.start()
        #expect(try keys.proven(uri, pin: pin).publicKey == publicKey)
    }

    @Test func `a TPM that was started anew meanwhile is not missed`() throws {
        let uri = try KeyURI(tpm.makeKey("0x81000001", pin: "2468"))
        let publicKey = try keys.proven(uri, pin: pin).publicKey
        try tpm.stop()
        try tpm.start()
        #expect(try keys.proven(uri, pin: pin).publicKey == publicKey)
    }

    @Test func `a TSS2 file of another TPM, and a damaged one, are unreadable`() throws {
        let uri = try KeyURI(tpm.makeFile("key.pem"))
        guard case .file(let path) = uri.place else {
            Issue.record("it is no file")
            return
        }
        let bytes = try DurableFile.read(path, maxBytes: FileKey.maxBytes)
        try DurableFile.write(Array(bytes.dropLast(60)), to: path, replacing: true)
        guard case .unreadable = reason(uri, pin: nil) else {
            Issue.record("half a file was used")
            return
        }
        try DurableFile.write(bytes, to: path, replacing: true)
        try tpm.stop()
        let other = try Places.tpm()
        guard case .unreadable = reason(uri, pin: nil) else {
            Issue.record("another TPM's key was used")
            return
        }
        withExtendedLifetime(other) {}
    }
}
