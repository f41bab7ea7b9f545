import DurableFiles
import FoundationEssentials
import Testing

/// Files that are read, written, moved and linked in pieces.
struct FileStreamTests {
    private let directory: String

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "oob-\(UUID().uuidString)").path
        try PrivateDirectory.make(at: directory)
    }

    private func reason(_ body: () throws(FileError) -> Void) -> FileError.Reason? {
        do throws(FileError) { try body() } catch { return error.reason }
        return nil
    }

    private func content(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(directory)/\(name)").map { Array($0) }
    }

    @Test func `what was written in pieces is read in pieces, fewer only at the end`() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = try FileStream(creating: "\(directory)/a")
        for piece in [[1, 2, 3], [], [4, 5]] as [[UInt8]] { try file.write(piece) }
        try file.synchronize()
        let read = try FileStream(reading: "\(directory)/a")
        #expect(try read.size == 5)
        #expect(try [read.read(2), read.read(2), read.read(2), read.read(2)] == [[1, 2], [3, 4], [5], []])
        let mode = try FileManager.default.attributesOfItem(atPath: "\(directory)/a")[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a new file takes no other's place, also not a dangling link's`() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try DurableFile.write([1], to: "\(directory)/a", replacing: false)
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory)/link", withDestinationPath: "\(directory)/nowhere")
        for name in ["a", "link"] {
            #expect(reason { () throws(FileError) in _ = try FileStream(creating: "\(directory)/\(name)") } == .exists)
        }
        #expect(content("a") == [1] && content("nowhere") == nil)
    }

    @Test func `what is no regular file is not read`() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(reason { () throws(FileError) in _ = try FileStream(reading: directory) } == .notRegularFile)
        #expect(reason { () throws(FileError) in _ = try FileStream(reading: "/dev/zero") } == .notRegularFile)
        #expect(reason { () throws(FileError) in _ = try FileStream(reading: "\(directory)/none") } == .missing)
        #expect(reason { () throws(FileError) in _ = try FileStream(reading: "a\0b") } == .unusablePath)
    }

    @Test func `a file that is moved has its new name alone, one that is linked has both until they are removed`()
        throws
    {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try DurableFile.write([1], to: "\(directory)/a", replacing: false)
        try DurableFile.write([2], to: "\(directory)/b", replacing: false)
        try DurableFile.link("\(directory)/a", as: "\(directory)/c")
        try DurableFile.move("\(directory)/a", to: "\(directory)/b")
        #expect(content("a") == nil && content("b") == [1] && content("c") == [1])
        try DurableFile.remove("\(directory)/b")
        #expect(content("c") == [1])
        let again = reason { () throws(FileError) in try DurableFile.link("\(directory)/none", as: "\(directory)/d") }
        #expect(again == .missing)
        try DurableFile.write([2], to: "\(directory)/b", replacing: false)
        #expect(
            reason { () throws(FileError) in try DurableFile.link("\(directory)/b", as: "\(directory)/c") } == .exists)
    }
}
