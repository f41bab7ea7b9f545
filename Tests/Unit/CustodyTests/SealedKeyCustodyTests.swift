import Custody
import Keys
import Records
import Signing
import Testing

/// Keys of the agent's own: sealed for the store, and kept nowhere else.
struct SealedKeyCustodyTests {
    private let secret: AgentSecret
    private let custody: SealedKeyCustody
    private let name: EnrollmentID

    init() throws {
        secret = try AgentSecret.generate()
        custody = SealedKeyCustody(secret: secret)
        name = try #require(EnrollmentID("0123456789abcdef0123"))
    }

    private func pin(_ text: String) throws -> PIN { try PIN(Secret(Array(text.utf8))) }

    private func reference(_ name: EnrollmentID, _ sealed: [UInt8]?) -> KeyReference {
        KeyReference(of: name, at: .own, sealed: sealed)
    }

    private func code(_ body: () async throws -> Void) async throws -> CustodyError.Code {
        try await #require(throws: CustodyError.self) { try await body() }.code
    }

    @Test func `a key opens wherever the secret is, and has verified nobody`() async throws {
        let made = try await custody.makeKey(of: name, algorithm: .es256, pin: nil)
        let other = SealedKeyCustody(secret: secret)
        let key = try await other.unlock(reference(name, made.sealed), pin: nil)
        #expect(key.publicKey == made.publicKey && !key.verifiesUser)
        try await other.verify(reference(name, made.sealed))
        #expect(
            try await code { _ = try await other.unlock(reference(name, made.sealed), pin: pin("2468")) }
                == .takesNoPIN)
    }

    @Test func `a PIN is inside the seal: the secret alone opens nothing`() async throws {
        let sealed = try await custody.makeKey(of: name, algorithm: .es256, pin: pin("2468")).sealed
        #expect(try await custody.unlock(reference(name, sealed), pin: pin("2468")).verifiesUser)
        #expect(try await code { _ = try await custody.unlock(reference(name, sealed), pin: pin("2469")) } == .wrongPIN)
        #expect(try await code { _ = try await custody.unlock(reference(name, sealed), pin: nil) } == .needsPIN)
        try await custody.verify(reference(name, sealed))
    }

    @Test func `it opens under no other secret and for no other enrollment, whose PIN may be the same`() async throws {
        let other = try #require(EnrollmentID("ffffffffffffffffffff"))
        let stranger = SealedKeyCustody(secret: try .generate())
        for pin in [nil, try pin("2468")] {
            let sealed = try await custody.makeKey(of: name, algorithm: .es256, pin: pin).sealed
            #expect(
                try await code { _ = try await custody.unlock(reference(other, sealed), pin: pin) } == .unavailable)
            #expect(try await code { try await custody.verify(reference(other, sealed)) } == .unavailable)
            #expect(
                try await code { _ = try await stranger.unlock(reference(name, sealed), pin: pin) } == .unavailable)
        }
    }

    @Test func `a key that a change of the secret has sealed anew is the same, and under another PIN it is not`()
        async throws
    {
        let new = try AgentSecret.generate()
        let both = SealedKeyCustody(SealingSecrets(new, previous: secret))
        let before = try await custody.makeKey(of: name, algorithm: .es256, pin: pin("2468")).sealed
        let rewrapper = SecretRewrapper(by: SecretChange(from: secret, to: new))
        let resealed = try #require(try rewrapper.key(before, of: name))
        #expect(resealed != before && both.isSame(resealed, as: before, of: name))
        let changed = try await both.changePIN(of: reference(name, before), from: pin("2468"), to: pin("1357"))
        #expect(!both.isSame(changed, as: before, of: name))
        // What does not open is no key at all.
        let other = try #require(EnrollmentID("ffffffffffffffffffff"))
        #expect(!both.isSame(resealed, as: before, of: other) && !custody.isSame(resealed, as: before, of: name))
    }

    @Test func `the previous secret seals while other hosts lack the present one, and both open`() async throws {
        let new = try AgentSecret.generate()
        let secrets = SealingSecrets(new, previous: secret)
        let both = SealedKeyCustody(secrets)
        let first = try await both.makeKey(of: name, algorithm: .es256, pin: nil).sealed
        secrets.sealUnderPrevious()
        let second = try await both.makeKey(of: name, algorithm: .es256, pin: nil).sealed
        #expect(try await code { try await custody.verify(reference(name, first)) } == .unavailable)
        try await custody.verify(reference(name, second))
        for sealed in [first, second] { try await both.verify(reference(name, sealed)) }
        let rows = RowSealer(secrets)
        #expect(try RowSealer(secret: secret).isSeal(rows.seal([1]), of: [1]))
        #expect(try rows.isSeal(RowSealer(secret: new).seal([1]), of: [1]))
    }

    @Test func `a changed PIN gives other bytes, which the old one does not open`() async throws {
        let before = try await custody.makeKey(of: name, algorithm: .es256, pin: pin("2468")).sealed
        let after = try await custody.changePIN(of: reference(name, before), from: pin("2468"), to: pin("1357"))
        #expect(try await custody.unlock(reference(name, after), pin: pin("1357")).verifiesUser)
        #expect(try await code { _ = try await custody.unlock(reference(name, after), pin: pin("2468")) } == .wrongPIN)
        #expect(
            try await code {
                _ = try await custody.changePIN(of: reference(name, after), from: pin("2468"), to: pin("1111"))
            } == .wrongPIN)
    }

    @Test func `an enrollment without a key opens nothing, and a key outside is not the agent's own`() async throws {
        #expect(try await code { _ = try await custody.unlock(reference(name, nil), pin: nil) } == .unavailable)
        #expect(try await code { try await custody.verify(reference(name, nil)) } == .unavailable)
        let facts = ExternalKeyFacts(
            kind: .file, publicKey: try SigningKey.generate(.es256).publicKey, isExportable: true)
        let outside = KeyReference(
            of: name, at: .external(ExternalKey(uri: try KeyURI("file:/key.pem"), facts: facts)))
        #expect(try await code { _ = try await custody.unlock(outside, pin: nil) } == .unavailable)
    }

    @Test func `many keys are opened side by side, and each answer is its own`() async throws {
        let sealed = try await custody.makeKey(of: name, algorithm: .es256, pin: pin("2468")).sealed
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let tried = try pin(number.isMultiple(of: 3) ? "2468" : "1357")
                    return (try? await custody.unlock(reference(name, sealed), pin: tried)) != nil
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 4)
    }
}
