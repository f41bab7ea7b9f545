import Authenticator
import Custody
import DurableFiles
import FoundationEssentials
import Keys
import ScratchDirectories
import Testing

/// Private keys in files under the agent's secret.
struct KeyFileCustodyTests {
    private let directory: ScratchDirectory
    private let secret: AgentSecret
    private let custody: KeyFileCustody
    private let name: EnrollmentID
    private let other: EnrollmentID

    init() throws {
        directory = try ScratchDirectory()
        secret = try AgentSecret.generate()
        custody = try KeyFileCustody(directory: directory.path + "/keys", secret: secret)
        name = try #require(EnrollmentID("0123456789abcdef0123"))
        other = try #require(EnrollmentID("ffffffffffffffffffff"))
    }

    private var keyPath: String { "\(directory.path)/keys/\(name.text).key" }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `a key's file is named by its enrollment and is nobody else's business`() async throws {
        _ = try await custody.makeKey(named: name, algorithm: .es256)
        #expect(try mode(keyPath) == 0o600)
        #expect(try mode("\(directory.path)/keys") == 0o700)
        #expect(custody.uri(of: name) == "file:\(keyPath)")
    }

    @Test func `the file holds no key in clear`() async throws {
        let key = try await custody.makeKey(named: name, algorithm: .es256)
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: keyPath)))
        for part in [Array("PRIVATE KEY".utf8), key.subjectPublicKeyInfo.suffix(32)] {
            #expect(bytes.firstRange(of: part) == nil)
        }
    }

    @Test func `the file is the one that its enrollment's label and the secret open`() async throws {
        let key = try await custody.makeKey(named: name, algorithm: .es256)
        let read = try KeyFile.read(path: keyPath, secret: secret, label: "credential key \(name.text)").key
        #expect(read.publicKey == key)
        #expect(throws: KeyFileError.self) {
            try KeyFile.read(path: keyPath, secret: secret, label: "credential key \(other.text)")
        }
        let stranger = try AgentSecret.generate()
        #expect(throws: KeyFileError.self) {
            try KeyFile.read(path: keyPath, secret: stranger, label: "credential key \(name.text)")
        }
    }

    @Test func `a key is never written over`() async throws {
        let key = try await custody.makeKey(named: name, algorithm: .es256)
        await #expect(throws: KeyFileError.self) { try await custody.makeKey(named: name, algorithm: .es256) }
        let read = try KeyFile.read(path: keyPath, secret: secret, label: "credential key \(name.text)").key
        #expect(read.publicKey == key)
    }

    private func unlocked() async throws -> PublicKey {
        try await custody.unlock(KeyReference(of: name, at: .own), pin: nil).publicKey
    }

    /// Makes the file what an earlier version wrote.
    private func makeOld() throws {
        let label = "credential key \(name.text)"
        let key = try KeyFile.read(path: keyPath, secret: secret, label: label).key
        let encrypted = try key.encryptedPKCS8(passphrase: secret.passphrase(for: label))
        try DurableFile.write(secret.seal(Secret(encrypted), label: label), to: keyPath, replacing: true)
    }

    @Test func `a file of an earlier version is written anew when its key is opened`() async throws {
        let key = try await custody.makeKey(named: name, algorithm: .es256)
        try makeOld()
        #expect(try await unlocked() == key)
        let read = try KeyFile.read(path: keyPath, secret: secret, label: "credential key \(name.text)")
        #expect(!read.isOutdated && read.key.publicKey == key)
        #expect(try mode(keyPath) == 0o600)
    }

    @Test func `a file of an earlier version whose rewriting was cut short is opened as it is`() async throws {
        let key = try await custody.makeKey(named: name, algorithm: .es256)
        try makeOld()
        let old = try Data(contentsOf: URL(filePath: keyPath))
        try old.prefix(100).write(to: URL(filePath: "\(directory.path)/keys/.tmp-0123456789abcdef"))
        let again = try KeyFileCustody(directory: directory.path + "/keys", secret: secret)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path + "/keys") == ["\(name.text).key"])
        #expect(try await again.unlock(KeyReference(of: name, at: .own), pin: nil).publicKey == key)
    }

    @Test func `a key that is removed while files of earlier versions are written anew does not come back`()
        async throws
    {
        for _ in 1...20 {
            _ = try await custody.makeKey(named: name, algorithm: .es256)
            try makeOld()
            async let opened = unlocked()
            try await custody.removeKey(named: name)
            _ = try? await opened
            #expect(!FileManager.default.fileExists(atPath: keyPath))
        }
    }

    @Test func `a removed key is gone, others stay, and one that is not there is no error`() async throws {
        _ = try await custody.makeKey(named: name, algorithm: .es256)
        _ = try await custody.makeKey(named: other, algorithm: .es256)
        try await custody.removeKey(named: name)
        try await custody.removeKey(named: name)
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/keys")
        #expect(files == ["\(other.text).key"])
    }

    @Test func `a key that goes while all are linked for a copy is no error`() async throws {
        let keys = directory.path + "/keys"
        for round in 1...5 {
            let names = (0..<500).map { "\(keys)/\($0).key" }
            for name in names { try Data().write(to: URL(filePath: name)) }
            let copy = "\(directory.path)/copy\(round)"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
            async let linked: Void = custody.linkKeys(into: copy)
            for name in names { try FileManager.default.removeItem(atPath: name) }
            try await linked
        }
    }

    @Test func `a key file that a crash left half written is removed, and those of enrollments stay`() async throws {
        _ = try await custody.makeKey(named: name, algorithm: .es256)
        try Data([0]).write(to: URL(filePath: "\(directory.path)/keys/.tmp-0123456789abcdef"))
        _ = try KeyFileCustody(directory: directory.path + "/keys", secret: secret)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path + "/keys") == ["\(name.text).key"])
    }

    @Test func `a directory that others may write to is refused`() throws {
        let path = "\(directory.path)/open"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o777])
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        #expect(throws: FileError.self) { try KeyFileCustody(directory: path, secret: secret) }
    }
}
