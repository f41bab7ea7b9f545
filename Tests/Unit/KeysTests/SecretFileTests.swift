import Foundation
import ScratchDirectories
import Testing

@testable import DurableFiles
@testable import Keys

@Suite struct SecretFileTests {
    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `a secret comes back from its file as it was`() throws {
        let secret = try Secret.random(64)
        try SecretFile.write(secret, to: scratch("secret"))
        #expect(try SecretFile.read(scratch("secret"), maxBytes: 64) == secret)
        #expect(try mode(scratch("secret")) == 0o600)
        #expect(throws: FileError(path: scratch("secret"), reason: .exists)) {
            try SecretFile.write(secret, to: scratch("secret"))
        }
        #expect(throws: FileError(path: scratch("secret"), reason: .tooLarge(maxBytes: 63))) {
            try SecretFile.read(scratch("secret"), maxBytes: 63)
        }
    }
}
