import Foundation
import ScratchDirectories
import Testing

@testable import DurableFiles
@testable import Keys

/// Key files that are looked at without being opened for a signature.
@Suite struct KeyFileUpkeepTests {
    private let scratch: ScratchDirectory
    private let secret: AgentSecret
    private let path: String

    init() throws {
        (scratch, secret) = (try ScratchDirectory(), try .generate())
        path = scratch("key")
        try KeyFile.write(.generate(.es256), to: path, secret: secret, label: "card")
    }

    private func problem() throws -> KeyFileError {
        try #require(throws: KeyFileError.self) { try KeyFile.check(path: path, secret: secret, label: "card") }
    }

    @Test func `a file in order is found so, also one with a PIN, which nobody enters`() throws {
        try KeyFile.check(path: path, secret: secret, label: "card")
        try KeyFile.write(
            .generate(.es256), to: path, secret: secret, label: "card", pin: try PIN(Secret(Array("2468".utf8))),
            replacing: true)
        try KeyFile.check(path: path, secret: secret, label: "card")
    }

    @Test func `one that is missing, or open to others, is not in order`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: path)
        #expect(try problem() == .file(FileError(path: path, reason: .tooPermissive(mode: 0o604, advised: "0600"))))
        try FileManager.default.removeItem(atPath: path)
        #expect(try problem() == .file(FileError(path: path, reason: .missing)))
    }

    @Test func `a directory or a link in its place is not in order`() throws {
        try FileManager.default.moveItem(atPath: path, toPath: path + ".real")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".real")
        #expect(try problem() == .file(FileError(path: path, reason: .notRegularFile)))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(try problem() == .file(FileError(path: path, reason: .notRegularFile)))
    }

    @Test func `one that was cut, is another's, or holds something else is not in order`() throws {
        let whole = try DurableFile.read(path, maxBytes: KeyFile.maxBytes)
        try DurableFile.write(Array(whole.dropLast()), to: path, replacing: true)
        #expect(try problem() == .seal(path: path, .notSealedByThisSecret))
        try DurableFile.write([], to: path, replacing: true)
        #expect(try problem() == .seal(path: path, .malformed))
        try KeyFile.write(.generate(.es256), to: path, secret: secret, label: "other", replacing: true)
        #expect(try problem() == .seal(path: path, .notSealedByThisSecret))
        try DurableFile.write(try secret.seal(Secret([1, 2, 3]), label: "card"), to: path, replacing: true)
        guard case .key = try problem() else { return #expect(Bool(false), "it is no key") }
    }
}
