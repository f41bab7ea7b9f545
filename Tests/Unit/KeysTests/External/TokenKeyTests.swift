import DurableFiles
import Foundation
import ScratchDirectories
import SoftKeys
import Testing

@testable import Keys

/// Keys on a SoftHSM token.
@Suite(.serialized) struct TokenKeyTests {
    let token: SoftToken
    let keys = ExternalKeys(pkcs11Module: SoftToken.modulePath)
    let pin = Secret(SoftToken.pin)

    init() throws { token = try Places.token() }

    private func uri(_ name: String) throws -> KeyURI { try KeyURI(token.uri(name)) }

    private func reason(_ uri: KeyURI, pin: Secret?) -> ExternalKeyError.Reason? {
        let error = #expect(throws: ExternalKeyError.self) { try keys.proven(uri, pin: pin) }
        #expect(OpenSSLError.queueIsEmpty)
        return error?.reason
    }

    @Test(arguments: [("EC:prime256v1", SignatureAlgorithm.es256), ("EC:secp384r1", .es384)])
    func `a key signs with the token's PIN, under the public key that the token's own tools show`(
        curve: String, algorithm: SignatureAlgorithm
    ) throws {
        try token.makeKey("card", curve: curve)
        let facts = try keys.proven(uri("card"), pin: pin)
        #expect(facts.kind == .pkcs11 && facts.publicKey.algorithm == algorithm)
        #expect(try token.publicKey("card").contains(facts.publicKey.pem))
        let signature = try keys.signature(over: [1], with: uri("card"), expecting: facts.publicKey, pin: pin)
        #expect(try facts.publicKey.isValid(signature: signature, over: [1]))
    }

    @Test func `a wrong PIN signs nothing, also after a right one, and none at all neither`() throws {
        try token.makeKey("card")
        let uri = try self.uri("card")
        let publicKey = try keys.proven(uri, pin: pin).publicKey
        for wrong in ["2469", "246", "", "24680", String(repeating: "2", count: 300)] {
            guard case .wrongPIN = reason(uri, pin: Secret(wrong)) else {
                Issue.record("the PIN \(wrong) was not found wrong")
                continue
            }
            #expect(throws: ExternalKeyError.self) {
                try keys.signature(over: [1], with: uri, expecting: publicKey, pin: Secret(wrong))
            }
        }
        #expect(reason(uri, pin: nil) == .needsPIN)
        #expect(try keys.proven(uri, pin: pin).publicKey == publicKey)
    }

    @Test func `the token says when few tries are left`() throws {
        try token.makeKey("card")
        // SoftHSM raises CKF_USER_PIN_COUNT_LOW after a wrong one.
        #expect(reason(try uri("card"), pin: Secret("9999")) == .wrongPIN(.few))
    }

    @Test func `a key that leaves the token, in clear or wrapped, is exportable`() throws {
        try token.makeKey("fixed", id: "01")
        try token.makeKey("loose", id: "02", "--extractable")
        #expect(try keys.proven(uri("fixed"), pin: pin).isExportable == false)
        #expect(try keys.proven(uri("loose"), pin: pin).isExportable == true)
    }

    @Test func `a key that wants the PIN for every signature gets it`() throws {
        try token.makeKey("careful", "--always-auth")
        #expect(try keys.proven(uri("careful"), pin: pin).kind == .pkcs11)
    }

    @Test func `a key that signs without a PIN is not used with one`() throws {
        try token.makeOpenKey("open")
        let uri = try self.uri("open")
        #expect(try keys.proven(uri, pin: nil).kind == .pkcs11)
        #expect(reason(uri, pin: pin) == .takesNoPIN)
    }

    @Test func `a key of another name, and a token of another name, are not there`() throws {
        try token.makeKey("card")
        #expect(reason(try uri("other"), pin: pin) == .noSuchKey)
        guard case .absent = reason(try KeyURI("pkcs11:token=other;object=card"), pin: pin) else {
            Issue.record("a token that is not there was found")
            return
        }
    }

    @Test func `every attribute of the URI must fit`() throws {
        try token.makeKey("card", id: "0a")
        let base = "pkcs11:token=\(token.label);object=card"
        for fitting in [";id=%0a", ";type=private", ";manufacturer=SoftHSM%20project", ";model=SoftHSM%20v2"] {
            #expect(try keys.proven(KeyURI(base + fitting), pin: pin).kind == .pkcs11)
        }
        #expect(reason(try KeyURI(base + ";id=%0b"), pin: pin) == .noSuchKey)
        for other in [";manufacturer=SoftHSM", ";model=SoftHSM", ";serial=0"] {
            guard case .absent = reason(try KeyURI(base + other), pin: pin) else {
                Issue.record("\(other) was overlooked")
                continue
            }
        }
    }

    @Test func `without a PIN it is seen which token and key a URI names, and the token counts no try`() throws {
        try token.makeKey("card", id: "0a")
        let base = "pkcs11:token=\(token.label)"
        let seen = try keys.sighting(uri("card"))
        #expect(try seen.publicKey == keys.proven(uri("card"), pin: pin).publicKey)
        for other in [";id=%0a", ";object=%63ard", ";type=private;object=card", ";object=card;model=SoftHSM%20v2"] {
            #expect(try keys.sighting(KeyURI(base + other)) == seen)
        }
        // The PIN is the token's, whatever key is asked for.
        #expect(try keys.sighting(KeyURI(base + ";object=none")).place == seen.place)
        let elsewhere = try Places.token()
        #expect(try keys.sighting(KeyURI(elsewhere.uri("card"))).place != seen.place)
        for _ in 0..<20 { _ = try keys.sighting(uri("card")) }
        #expect(try keys.proven(uri("card"), pin: pin).publicKey == seen.publicKey)
    }

    @Test func `of two keys, and of two tokens, none is taken`() throws {
        try token.makeKey("card", id: "01")
        try token.makeKey("card", id: "02")
        guard case .ambiguous = reason(try uri("card"), pin: pin) else {
            Issue.record("one of two keys was taken")
            return
        }
        #expect(try keys.proven(KeyURI("pkcs11:token=\(token.label);object=card;id=%02"), pin: pin).kind == .pkcs11)
        let twin = try Places.token(label: token.label)
        guard case .ambiguous = reason(try uri("card"), pin: pin) else {
            Issue.record("one of two tokens was taken")
            return
        }
        withExtendedLifetime(twin) {}
    }

    @Test func `a token that was taken out is missed, and found when it is back`() throws {
        try token.makeKey("card")
        let uri = try self.uri("card")
        let publicKey = try keys.proven(uri, pin: pin).publicKey
        let putBack = try token.takeOut()
        guard case .absent = reason(uri, pin: pin) else {
            Issue.record("the token was found")
            return
        }
        try putBack()
        #expect(try keys.proven(uri, pin: pin).publicKey == publicKey)
    }

    @Test func `another key under the same name does not sign`() throws {
        try token.makeKey("card", id: "01")
        let enrolled = try keys.proven(uri("card"), pin: pin).publicKey
        try token.tool(["--delete-object", "--type", "privkey", "--id", "01"])
        try token.tool(["--delete-object", "--type", "pubkey", "--id", "01"])
        try token.makeKey("card", id: "01")
        let error = #expect(throws: ExternalKeyError.self) {
            try keys.signature(over: [1], with: uri("card"), expecting: enrolled, pin: pin)
        }
        #expect(error?.reason == .replaced)
    }

    @Test func `a public key that is not the private key's other half is noticed`() throws {
        let scratch = try ScratchDirectory()
        try token.makeKey("card", id: "01")
        try token.makeKey("other", id: "02")
        let other = try keys.proven(uri("other"), pin: pin).publicKey
        try DurableFile.write(other.subjectPublicKeyInfo, to: scratch("public.der"), replacing: false)
        try token.tool(["--delete-object", "--type", "pubkey", "--id", "01"])
        guard case .unsupported = reason(try uri("card"), pin: pin) else {
            Issue.record("a key without its public half was used")
            return
        }
        try token.tool(["--write-object", scratch("public.der"), "--type", "pubkey", "--id", "01", "--label", "card"])
        #expect(
            reason(try uri("card"), pin: pin) == .failed("what it signs does not hold under its public key"))
    }

    @Test func `a key of another kind is not supported`() throws {
        try token.makeKey("rsa", id: "01", curve: "rsa:2048")
        try token.makeKey("k1", id: "02", curve: "EC:secp521r1")
        for name in ["rsa", "k1"] {
            guard case .unsupported = reason(try uri(name), pin: pin) else {
                Issue.record("\(name) was used")
                continue
            }
        }
    }

    @Test func `threads with right and wrong PINs do not open the token for each other`() async throws {
        try token.makeKey("card")
        let uri = try self.uri("card")
        let opened = await withTaskGroup(of: (Bool, Bool).self) { group in
            for number in 0..<40 {
                group.addTask {
                    let isRight = number.isMultiple(of: 2)
                    let secret = Secret(isRight ? SoftToken.pin : "9999")
                    return (isRight, (try? keys.proven(uri, pin: secret)) != nil)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(opened.count == 40 && opened.allSatisfy { $0.0 == $0.1 })
    }
}
