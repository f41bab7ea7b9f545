import Authenticator
import Custody
import Foundation
import Keys
import SoftKeys
import Testing

/// Keys that are made for the store: the bytes of a key file, and no file.
struct StoredKeyCustodyTests {
    private let folder: String
    private let secret: AgentSecret
    private let name: EnrollmentID

    init() throws {
        folder = Places.root + "/stored-\(UUID().uuidString)"
        secret = try AgentSecret.generate()
        name = try #require(EnrollmentID("0123456789abcdef0123"))
    }

    /// The custody of one of the hosts, with key files of its own.
    private func custody(_ host: String = "alpha", secret: AgentSecret? = nil) throws -> KeyFileCustody {
        try KeyFileCustody(directory: "\(folder)-\(host)", secret: secret ?? self.secret, newKeys: .inStore)
    }

    private func pin(_ text: String) throws -> PIN { try PIN(Secret(Array(text.utf8))) }

    private func reference(_ name: EnrollmentID, _ sealed: [UInt8]) -> KeyReference {
        KeyReference(of: name, at: .own, sealed: sealed)
    }

    private func code(_ body: () async throws -> Void) async throws -> CustodyError.Code {
        try await #require(throws: CustodyError.self) { try await body() }.code
    }

    @Test func `a key is given back sealed and opens on another host, and there is no file`() async throws {
        let made = try await custody().makeKey(named: name, algorithm: .es256, pin: nil)
        let sealed = try #require(made.sealed)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)-alpha").isEmpty)
        let other = try custody("beta")
        let key = try await other.unlock(reference(name, sealed), pin: nil)
        #expect(key.publicKey == made.publicKey && !key.verifiesUser)
        try await other.check(reference(name, sealed))
        #expect(try await code { _ = try await other.unlock(reference(name, sealed), pin: pin("2468")) } == .takesNoPIN)
    }

    @Test func `a PIN is inside the seal: the secret alone opens nothing`() async throws {
        let sealed = try #require(
            try await custody().makeKey(named: name, algorithm: .es256, pin: pin("2468")).sealed)
        let other = try custody("beta")
        #expect(try await other.unlock(reference(name, sealed), pin: pin("2468")).verifiesUser)
        #expect(try await code { _ = try await other.unlock(reference(name, sealed), pin: pin("2469")) } == .wrongPIN)
        #expect(try await code { _ = try await other.unlock(reference(name, sealed), pin: nil) } == .needsPIN)
    }

    @Test func `it opens under no other secret and for no other enrollment`() async throws {
        let other = try #require(EnrollmentID("ffffffffffffffffffff"))
        let sealed = try #require(try await custody().makeKey(named: name, algorithm: .es256, pin: nil).sealed)
        #expect(try await code { _ = try await custody().unlock(reference(other, sealed), pin: nil) } == .unavailable)
        #expect(try await code { try await custody().check(reference(other, sealed)) } == .unavailable)
        let stranger = try custody("mallory", secret: .generate())
        #expect(try await code { _ = try await stranger.unlock(reference(name, sealed), pin: nil) } == .unavailable)
    }

    @Test func `a changed PIN gives other bytes, and what was there before is as it was`() async throws {
        let before = try #require(
            try await custody().makeKey(named: name, algorithm: .es256, pin: pin("2468")).sealed)
        let after = try #require(
            try await custody().changePIN(of: reference(name, before), from: pin("2468"), to: pin("1357")))
        #expect(try await custody().unlock(reference(name, after), pin: pin("1357")).verifiesUser)
        #expect(
            try await code { _ = try await custody().unlock(reference(name, after), pin: pin("2468")) } == .wrongPIN)
        #expect(
            try await code {
                _ = try await custody().changePIN(of: reference(name, after), from: pin("2468"), to: pin("1111"))
            } == .wrongPIN)
    }
}
