import Testing

@testable import Keys

/// What lies under one secret is brought under another.
@Suite struct SecretChangeTests {
    private let old: AgentSecret
    private let new: AgentSecret
    private let change: SecretChange

    init() throws {
        (old, new) = (try .generate(), try .generate())
        change = SecretChange(from: old, to: new)
    }

    @Test func `what was sealed is under the new secret, and no longer under the old one`() throws {
        let sealed = try old.seal(Secret([1, 2, 3]), label: "token")
        let resealed = try #require(try change.resealed(sealed, label: "token"))
        #expect(try new.open(resealed, label: "token").revealed == [1, 2, 3])
        #expect(throws: SealError.notSealedByThisSecret) { try old.open(resealed, label: "token") }
        #expect(try change.resealed(resealed, label: "token") == nil)
    }

    @Test func `a key is the new secret's`() throws {
        let key = try SigningKey.generate(.es384)
        let resealed = try #require(try change.resealedKey(old.seal(key, label: "card"), label: "card"))
        #expect(try new.openKey(resealed, label: "card").publicKey == key.publicKey)
        #expect(throws: SealedKeyError.seal(.notSealedByThisSecret)) { try old.openKey(resealed, label: "card") }
        #expect(try change.resealedKey(resealed, label: "card") == nil)
    }

    @Test func `the inner layer of a key with a PIN stays as it is`() throws {
        let pin = try PIN(Secret(Array("2468".utf8)))
        let sealed = try old.seal(.generate(.es256), label: "card", pin: pin)
        let resealed = try #require(try change.resealedKey(sealed, label: "card"))
        let inner = try new.open(resealed, label: "card").revealed
        #expect(try old.open(sealed, label: "card").revealed == inner)
    }

    @Test func `what neither secret opens, another label's and a cut one are refused`() throws {
        let stranger = try AgentSecret.generate()
        let sealed = try stranger.seal(.generate(.es256), label: "card")
        #expect(throws: SecretChangeError.seal(.notSealedByThisSecret)) {
            try change.resealedKey(sealed, label: "card")
        }
        let token = try old.seal(Secret([1]), label: "token")
        #expect(throws: SecretChangeError.seal(.notSealedByThisSecret)) { try change.resealed(token, label: "other") }
        #expect(throws: SecretChangeError.seal(.malformed)) {
            try change.resealed(Array(token.prefix(9)), label: "token")
        }
        #expect(throws: SecretChangeError.self) { try change.resealedKey(token, label: "token") }
    }
}
