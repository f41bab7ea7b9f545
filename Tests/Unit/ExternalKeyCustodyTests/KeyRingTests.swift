import Custody
import ExternalKeyCustody
import Foundation
import Keys
import Records
import Signing
import SoftKeys
import StandingClocks
import Testing

/// Keys of both kinds in one custody; those outside on a SoftHSM token and in files.
struct KeyRingTests {
    private let folder: String
    private let ring: KeyRing
    private let name: EnrollmentID
    private let pin: PIN

    init() throws {
        folder = Places.root
        pin = try PIN(Secret(Array(SoftToken.pin.utf8)))
        ring = KeyRing(
            own: SealedKeyCustody(secret: try AgentSecret.generate()),
            external: ExternalKeys(pkcs11Module: SoftToken.modulePath), clock: StandingClock())
        name = try #require(EnrollmentID("0123456789abcdef0123"))
    }

    private func code(_ body: () async throws -> Void) async throws -> CustodyError.Code {
        try await #require(throws: CustodyError.self) { try await body() }.code
    }

    @Test func `a token's key is opened by the token's PIN, and then it has verified the user`() async throws {
        let token = try Places.token()
        try token.makeKey("card")
        let uri = try KeyURI(token.uri("card"))
        let key = try await ring.inspect(uri, pin: pin)
        #expect(key.uri == uri && key.facts.kind == .pkcs11 && key.facts.isExportable == false)
        #expect(try await ring.unlock(name, at: .external(key), pin: pin).verifiesUser)
        let other = try PIN(Secret(Array("1357".utf8)))
        for (wrong, expected) in [(other, CustodyError.Code.wrongPIN), (nil, .needsPIN)] {
            #expect(try await code { _ = try await ring.inspect(uri, pin: wrong) } == expected)
            #expect(try await code { _ = try await ring.unlock(name, at: .external(key), pin: wrong) } == expected)
        }
        let putBack = try token.takeOut()
        #expect(try await code { _ = try await ring.unlock(name, at: .external(key), pin: pin) } == .unavailable)
        try putBack()
        #expect(try await ring.unlock(name, at: .external(key), pin: pin).verifiesUser)
    }

    @Test func `a key in a file that takes no PIN verifies nobody`() async throws {
        let path = "\(folder)/\(UUID().uuidString).pem"
        try ProgramRun.output(["openssl", "genpkey", "-algorithm", "ED25519", "-out", path])
        let uri = try KeyURI("file:" + path)
        let key = try await ring.inspect(uri, pin: nil)
        #expect(try await !ring.unlock(name, at: .external(key), pin: nil).verifiesUser)
        #expect(try await code { _ = try await ring.inspect(uri, pin: pin) } == .takesNoPIN)
        try ProgramRun.output(["openssl", "genpkey", "-algorithm", "ED25519", "-out", path])
        #expect(try await code { _ = try await ring.unlock(name, at: .external(key), pin: nil) } == .unavailable)
    }

    @Test func `a key of the agent's own is made and opened beside them`() async throws {
        let made = try await ring.makeKey(of: name, algorithm: .es256, pin: nil)
        let own = KeyReference(of: name, at: .own, sealed: made.sealed)
        #expect(try await !ring.unlock(own, pin: nil).verifiesUser)
        try await ring.verify(own)
    }
}

extension KeyCustody {
    /// Whichever key it is.
    fileprivate func unlock(_ name: EnrollmentID, at place: KeyPlace, pin: PIN?) async throws -> any UnlockedKey {
        try await unlock(KeyReference(of: name, at: place), pin: pin)
    }
}
