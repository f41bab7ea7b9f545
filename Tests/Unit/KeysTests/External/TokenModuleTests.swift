import DurableFiles
import Foundation
import Glibc
import ScratchDirectories
import SoftKeys
import Testing

@testable import Keys

@Suite struct TokenModuleTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func reason(_ modulePath: String?) throws -> ExternalKeyError.Reason? {
        let uri = try KeyURI("pkcs11:token=t;object=o")
        let keys = ExternalKeys(pkcs11Module: modulePath)
        return #expect(throws: ExternalKeyError.self) { try keys.proven(uri, pin: nil) }?.reason
    }

    private func isNotSetUp(_ modulePath: String?, _ says: String) throws -> Bool {
        guard case .notSetUp(let text) = try reason(modulePath) else { return false }
        return text.contains(says)
    }

    @Test func `without a module, or with a path of none, it says what to set`() throws {
        #expect(try isNotSetUp(nil, "pkcs11-module"))
        #expect(try isNotSetUp("libsofthsm2.so", "no absolute path"))
        #expect(try isNotSetUp(scratch("missing.so"), "no absolute path"))
        #expect(try isNotSetUp("/usr/lib", "no absolute path"))
    }

    @Test func `a file that is no library, and a library that is no module, are refused`() throws {
        try DurableFile.write([1, 2, 3], to: scratch("text.so"), mode: 0o644, replacing: false)
        #expect(try isNotSetUp(scratch("text.so"), "cannot be loaded"))
        #expect(try isNotSetUp("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", "no PKCS #11 module"))
    }

    @Test(arguments: [0o664, 0o646])
    func `a module that others can write is not loaded`(mode: mode_t) throws {
        try FileManager.default.copyItem(
            atPath: URL(filePath: SoftToken.modulePath).resolvingSymlinksInPath().path, toPath: scratch("module.so"))
        #expect(unsafe chmod(scratch("module.so"), mode) == 0)
        #expect(try isNotSetUp(scratch("module.so"), "can be written by others"))
    }

    // PKCS #11 v2.40, "Cryptoki constants": CKR_PIN_LEN_RANGE, CKR_PIN_LOCKED, CKR_USER_NOT_LOGGED_IN,
    // CKR_DEVICE_REMOVED and CKR_DEVICE_ERROR.
    @Test(arguments: [
        (UInt(0xA2), ExternalKeyError.Reason.wrongPIN(.notTold)), (0xA4, .pinLocked), (0x101, .needsPIN),
        (0x32, .absent("the token was taken out; put it back")), (0x30, .failed("the token's C_Sign answered 0x30")),
    ])
    func `a module's answer becomes a reason`(code: UInt, reason: ExternalKeyError.Reason) {
        #expect(TokenAnswer.reason("C_Sign", code) == reason)
    }
}
