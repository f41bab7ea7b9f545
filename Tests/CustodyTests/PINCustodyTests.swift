import Authenticator
import Custody
import DurableFiles
import Foundation
import Keys
import SoftKeys
import Testing

/// Keys of the agent's own that a PIN opens.
struct PINCustodyTests {
    private let folder: String
    private let custody: KeyFileCustody
    private let name: EnrollmentID

    init() throws {
        folder = Places.root + "/pin-\(UUID().uuidString)"
        custody = try KeyFileCustody(directory: folder, secret: AgentSecret.generate())
        name = try #require(EnrollmentID("0123456789abcdef0123"))
    }

    private func pin(_ text: String) throws -> PIN { try PIN(Secret(Array(text.utf8))) }

    private func code(_ body: () async throws -> Void) async throws -> CustodyError.Code {
        try await #require(throws: CustodyError.self) { try await body() }.code
    }

    @Test func `a key verifies the user if a PIN opened it, and only then`() async throws {
        _ = try await custody.makeKey(named: name, algorithm: .es256, pin: pin("2468"))
        #expect(try await custody.unlock(name, at: .own, pin: pin("2468")).verifiesUser)
        #expect(try await code { _ = try await custody.unlock(name, at: .own, pin: pin("2469")) } == .wrongPIN)
        #expect(try await code { _ = try await custody.unlock(name, at: .own, pin: nil) } == .needsPIN)
        try await custody.removeKey(named: name)
        _ = try await custody.makeKey(named: name, algorithm: .es256, pin: nil)
        #expect(try await !custody.unlock(name, at: .own, pin: nil).verifiesUser)
        #expect(try await code { _ = try await custody.unlock(name, at: .own, pin: pin("2468")) } == .takesNoPIN)
    }

    @Test func `a PIN is changed with the old one, and else stays`() async throws {
        _ = try await custody.makeKey(named: name, algorithm: .es256, pin: pin("2468"))
        #expect(
            try await code {
                _ = try await custody.changePIN(
                    of: KeyReference(of: name, at: .own), from: pin("1357"), to: pin("1111"))
            } == .wrongPIN)
        #expect(try await custody.unlock(name, at: .own, pin: pin("2468")).verifiesUser)
        let own = KeyReference(of: name, at: .own)
        #expect(try await custody.changePIN(of: own, from: pin("2468"), to: pin("1357")) == nil)
        #expect(try await custody.unlock(name, at: .own, pin: pin("1357")).verifiesUser)
        #expect(try await code { _ = try await custody.unlock(name, at: .own, pin: pin("2468")) } == .wrongPIN)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [name.text + ".key"])
        let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name.text).key")[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `a PIN of one key opens no other, though it is the same`() async throws {
        let other = try #require(EnrollmentID("ffffffffffffffffffff"))
        for name in [name, other] { _ = try await custody.makeKey(named: name, algorithm: .es256, pin: pin("2468")) }
        let path = { (name: EnrollmentID) in "\(folder)/\(name.text).key" }
        try DurableFile.write(
            DurableFile.read(path(other), maxBytes: KeyFile.maxBytes), to: path(name), replacing: true)
        #expect(try await code { _ = try await custody.unlock(name, at: .own, pin: pin("2468")) } == .unavailable)
    }

    @Test func `many keys are opened side by side, and each answer is its own`() async throws {
        _ = try await custody.makeKey(named: name, algorithm: .es256, pin: pin("2468"))
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let tried = try pin(number.isMultiple(of: 3) ? "2468" : "1357")
                    return (try? await custody.unlock(name, at: .own, pin: tried)) != nil
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 4)
    }
}

extension KeyCustody {
    /// Whichever key it is.
    func unlock(_ name: EnrollmentID, at place: KeyPlace, pin: PIN?) async throws -> any UnlockedKey {
        try await unlock(KeyReference(of: name, at: place), pin: pin)
    }
}
