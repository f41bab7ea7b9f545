import Custody
import Keys
import Records
import Testing

/// The audit key lies sealed in the store.
struct SealedAuditKeysTests {
    private let secret: AgentSecret
    private let keys: SealedAuditKeys

    init() throws {
        secret = try AgentSecret.generate()
        keys = SealedAuditKeys(secret: secret)
    }

    @Test func `what was made opens to the same key, and another is another`() throws {
        let sealed = try keys.make()
        let first = try keys.open(sealed)
        #expect(first.publicKey.algorithm == .es256)
        #expect(try keys.open(sealed).publicKey == first.publicKey)
        #expect(try keys.open(try keys.make()).publicKey != first.publicKey)
    }

    @Test func `it is not in clear, and no other secret opens it`() throws {
        let sealed = try keys.make()
        let publicPart = try keys.open(sealed).publicKey.subjectPublicKeyInfo.suffix(64)
        let windows = sealed.indices.dropLast(64).map { sealed[$0..<$0 + 64] }
        #expect(!windows.contains { $0.elementsEqual(publicPart) })
        let other = SealedAuditKeys(secret: try AgentSecret.generate())
        #expect(throws: SealError.notSealedByThisSecret) { _ = try other.open(sealed) }
    }

    @Test func `bytes that were changed, cut or sealed for another use do not open`() throws {
        let sealed = try keys.make()
        for index in [0, 1, sealed.count / 2, sealed.count - 1] {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: SealError.self) { _ = try keys.open(changed) }
        }
        #expect(throws: SealError.self) { _ = try keys.open([]) }
        #expect(throws: SealError.self) {
            _ = try keys.open(try secret.seal(Secret([1, 2, 3]), label: "access token 1"))
        }
    }
}
