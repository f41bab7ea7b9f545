import Foundation
import Glibc
import ScratchDirectories
import Testing

@testable import DurableFiles

@Suite struct PrivateDirectoryTests {
    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test(arguments: ["state", "a/b/c", "trailing/", "double//slash"])
    func `missing directories are made with mode 0700, and made again without harm`(name: String) throws {
        try PrivateDirectory.make(at: scratch(name))
        try PrivateDirectory.make(at: scratch(name))
        let mode = try FileManager.default.attributesOfItem(atPath: scratch(name))[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test(arguments: [(0o700, true), (0o755, true), (0o770, false), (0o702, false), (0o720, false)])
    func `a directory that others may write to is refused`(mode: mode_t, isAllowed: Bool) throws {
        try PrivateDirectory.make(at: scratch("state"))
        #expect(unsafe chmod(scratch("state"), mode) == 0)
        let made: Void? = try? PrivateDirectory.make(at: scratch("state"))
        #expect((made != nil) == isAllowed)
    }

    @Test func `a link to a directory is followed, a file is refused`() throws {
        try PrivateDirectory.make(at: scratch("real"))
        try FileManager.default.createSymbolicLink(atPath: scratch("link"), withDestinationPath: "real")
        try PrivateDirectory.make(at: scratch("link"))
        try DurableFile.write([1], to: scratch("file"), replacing: false)
        #expect(throws: FileError(path: scratch("file"), reason: .notDirectory)) {
            try PrivateDirectory.make(at: scratch("file"))
        }
        #expect(throws: FileError.self) { try PrivateDirectory.make(at: scratch("file/below")) }
        #expect(throws: FileError(path: "", reason: .unusablePath)) { try PrivateDirectory.make(at: "") }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
    func `a directory of another user is refused`() throws {
        try PrivateDirectory.make(at: scratch("state"))
        #expect(unsafe chown(scratch("state"), 12_345, 0) == 0)
        #expect(throws: FileError(path: scratch("state"), reason: .wrongOwner(uid: 12_345))) {
            try PrivateDirectory.make(at: scratch("state"))
        }
    }
}
