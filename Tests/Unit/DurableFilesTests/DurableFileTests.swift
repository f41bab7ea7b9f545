import Foundation
import Glibc
import ScratchDirectories
import Testing

@testable import DurableFiles

@Suite struct DurableFileTests {
    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `a file is written whole, with its mode, and nothing else stays`() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        try DurableFile.write(bytes, to: scratch("file"), replacing: false)
        #expect(try DurableFile.read(scratch("file"), maxBytes: 100_000) == bytes)
        #expect(try mode(scratch("file")) == 0o600)
        try DurableFile.write([], to: scratch("empty"), mode: 0o640, replacing: false)
        #expect(try mode(scratch("empty")) == 0o640)
        #expect(try scratch.names == ["empty", "file"])
    }

    @Test func `an existing file is not overwritten unless asked`() throws {
        try DurableFile.write([1], to: scratch("file"), replacing: false)
        let error = #expect(throws: FileError.self) {
            try DurableFile.write([2], to: scratch("file"), replacing: false)
        }
        #expect(error == FileError(path: scratch("file"), reason: .exists))
        #expect(try DurableFile.read(scratch("file"), maxBytes: 1) == [1])
        try DurableFile.write([3, 4], to: scratch("file"), replacing: true)
        #expect(try DurableFile.read(scratch("file"), maxBytes: 2) == [3, 4])
        #expect(try scratch.names == ["file"])
    }

    @Test func `of many that write at once, one wins and the others are told`() async throws {
        let path = scratch("file")
        let won = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<32 as Range<UInt8> {
                group.addTask { (try? DurableFile.write([number], to: path, replacing: false)) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(won == 1)
        #expect(try scratch.names == ["file"])
    }

    @Test(arguments: [true, false])
    func `if the name cannot be taken the temporary file is removed`(replacing: Bool) throws {
        let error = #expect(throws: FileError.self) {
            try DurableFile.write([1], to: scratch(String(repeating: "n", count: 256)), replacing: replacing)
        }
        #expect(error?.reason == .system(operation: replacing ? "rename" : "link", errno: ENAMETOOLONG))
        #expect(error?.description.contains("File name too long") == true)
        #expect(try scratch.names.isEmpty)
    }

    @Test func `what a crash left under a temporary name is removed, and nothing else`() throws {
        let temporary = ".tmp-" + String(UInt64.max, radix: 16)
        for name in [temporary, "file", ".hidden", "tmp-"] { try Data([1]).write(to: URL(filePath: scratch(name))) }
        try DurableFile.removeLeftovers(in: scratch.path)
        #expect(try scratch.names == [".hidden", "file", "tmp-"])
        try DurableFile.removeLeftovers(in: scratch("missing"))
    }

    @Test func `leftovers of a directory that is none are an error with its path`() throws {
        try DurableFile.write([1], to: scratch("file"), replacing: false)
        let error = #expect(throws: FileError.self) { try DurableFile.removeLeftovers(in: scratch("file")) }
        #expect(error == FileError(path: scratch("file"), reason: .system(operation: "opendir", errno: ENOTDIR)))
        #expect(throws: FileError.self) { try DurableFile.removeLeftovers(in: scratch.path + "\0") }
    }

    @Test func `a symbolic link in the place of the file is not followed`() throws {
        try DurableFile.write([1], to: scratch("target"), replacing: false)
        try FileManager.default.createSymbolicLink(atPath: scratch("link"), withDestinationPath: scratch("target"))
        #expect(throws: FileError(path: scratch("link"), reason: .exists)) {
            try DurableFile.write([2], to: scratch("link"), replacing: false)
        }
        #expect(throws: FileError(path: scratch("link"), reason: .notRegularFile)) {
            try DurableFile.read(scratch("link"), maxBytes: 10)
        }
        try DurableFile.write([3], to: scratch("link"), replacing: true)
        #expect(try DurableFile.read(scratch("target"), maxBytes: 10) == [1])
        #expect(try DurableFile.read(scratch("link"), maxBytes: 10) == [3])
    }

    @Test(arguments: ["", "/", ".", "..", "a/", "a/..", "a\0b"])
    func `a path that names no file is refused`(path: String) {
        #expect(throws: FileError(path: path, reason: .unusablePath)) {
            try DurableFile.write([1], to: path, replacing: true)
        }
        #expect(throws: FileError.self) { try DurableFile.read(path, maxBytes: 1) }
    }

    @Test func `a missing directory is named`() throws {
        let error = #expect(throws: FileError.self) {
            try DurableFile.write([1], to: scratch("no/file"), replacing: false)
        }
        #expect(error == FileError(path: scratch("no"), reason: .missing))
    }

    @Test(arguments: [(9, false), (10, true)])
    func `a file above the bound is not read`(maxBytes: Int, isRead: Bool) throws {
        try DurableFile.write([UInt8](repeating: 1, count: 10), to: scratch("file"), replacing: false)
        let read = try? DurableFile.read(scratch("file"), maxBytes: maxBytes)
        #expect((read != nil) == isRead)
    }

    @Test(arguments: [0o601, 0o602, 0o604, 0o610, 0o620, 0o640, 0o666])
    func `a file that group or others have any permission for is not read`(mode: mode_t) throws {
        try DurableFile.write([1], to: scratch("file"), mode: mode, replacing: false)
        let error = #expect(throws: FileError.self) { try DurableFile.read(scratch("file"), maxBytes: 1) }
        #expect(error?.reason == .tooPermissive(mode: mode, advised: "0600"))
        #expect(error?.description.contains("chmod 0600") == true)
    }

    @Test func `what is no regular file is not read, and a FIFO is not waited for`() throws {
        #expect(unsafe mkfifo(scratch("fifo"), 0o600) == 0)
        try PrivateDirectory.make(at: scratch("directory"))
        for name in ["fifo", "directory"] {
            #expect(throws: FileError(path: scratch(name), reason: .notRegularFile)) {
                try DurableFile.read(scratch(name), maxBytes: 1)
            }
        }
        #expect(throws: FileError(path: "/dev/zero", reason: .notRegularFile)) {
            try DurableFile.read("/dev/zero", maxBytes: 1, privacy: .credential)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func `a file of another user is not read`() throws {
        try DurableFile.write([1], to: scratch("file"), replacing: false)
        #expect(unsafe chown(scratch("file"), 12_345, 0) == 0)
        let error = #expect(throws: FileError.self) { try DurableFile.read(scratch("file"), maxBytes: 1) }
        #expect(error?.reason == .wrongOwner(uid: 12_345))
        #expect(error?.description.contains("chown") == true)
    }

    @Test(
        .enabled(if: geteuid() == 0, "a credential's mode is allowed for root's files only"),
        arguments: [(0o400, true), (0o440, true), (0o460, false), (0o444, false)])
    func `a credential of root's may have the group's read bit`(mode: mode_t, isRead: Bool) throws {
        try DurableFile.write([1], to: scratch("file"), mode: mode, replacing: false)
        try FileManager.default.createSymbolicLink(atPath: scratch("link"), withDestinationPath: scratch("file"))
        let read = try? DurableFile.read(scratch("link"), maxBytes: 1, privacy: .credential)
        #expect(read == (isRead ? [1] : nil))
    }

    @Test func `a credential of anyone but root is its owner's alone`() {
        #expect(FilePrivacy.credential.forbiddenBits(owner: 1_000) == 0o077)
        #expect(FilePrivacy.credential.forbiddenBits(owner: 0) == 0o037)
    }

    @Test func `removing is idempotent`() throws {
        try DurableFile.write([1], to: scratch("file"), replacing: false)
        try DurableFile.remove(scratch("file"))
        #expect(try scratch.names.isEmpty)
        try DurableFile.remove(scratch("file"))
        try DurableFile.remove(scratch("no/file"))
        #expect(throws: FileError.self) { try DurableFile.remove(scratch.path) }
    }
}
