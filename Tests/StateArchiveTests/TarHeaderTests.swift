import FoundationEssentials
import Glibc
import Testing

@testable import StateArchive

/// The blocks of a tar.
struct TarHeaderTests {
    @Test(arguments: [0, 1, 511, 512, (1 << 33) - 1, 1 << 33, 1 << 50] as [Int64])
    func `what was written is read`(size: Int64) throws {
        let header = TarHeader(name: "keys/0123456789abcdef0123.key", size: size)
        #expect(TarHeader(block: header.bytes(time: 1_700_000_000)) == header)
        #expect((size + Int64(header.padding)).isMultiple(of: 512))
    }

    @Test func `a block with any byte changed is refused`() {
        let block = TarHeader(name: "agent.db", size: 4_096).bytes(time: 1_700_000_000)
        for place in block.indices {
            var changed = block
            changed[place] ^= 1
            #expect(TarHeader(block: changed) == nil, "byte \(place)")
        }
    }

    /// A block whose bytes are changed before its checksum is made.
    private func block(_ changes: [Int: [UInt8]]) -> [UInt8] {
        var block = TarHeader(name: "agent.db", size: 0).bytes(time: 0)
        for (place, bytes) in changes { block.replaceSubrange(place..<place + bytes.count, with: bytes) }
        block.replaceSubrange(148..<156, with: [UInt8](repeating: 0x20, count: 8))
        let sum = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
        block.replaceSubrange(148..<156, with: Array((String(repeating: "0", count: 6 - sum.count) + sum + "\0 ").utf8))
        return block
    }

    @Test(arguments: Array("12346789xgLKSV\0".utf8))
    func `links, devices, pipes and extensions are no entries of a backup`(kind: UInt8) {
        #expect(TarHeader(block: block([156: [0x30]])) != nil)
        #expect(TarHeader(block: block([156: [kind]])) == nil)
    }

    @Test(arguments: [
        [157: Array("/etc/passwd".utf8)], [345: Array("..".utf8)], [257: Array("ustar  \0".utf8)],
        [0: Array("a b".utf8)], [0: [0]], [0: [0xC3, 0xB8]], [0: Array("a\0b".utf8)], [124: Array("9".utf8)],
        [124: [0xFF]], [124: [0x80, 1]], [124: [0x80, 0, 0, 0, 0x80]], [124: [UInt8](repeating: 0, count: 12)],
        [156: [0x35], 124: Array("00000000001".utf8)],
    ])
    func `a field that a backup does not have is refused`(changes: [Int: [UInt8]]) {
        #expect(TarHeader(block: block(changes)) == nil)
    }

    @Test func `Debian's tar reads a size of 8 GiB and more`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "oob-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let header = TarHeader(name: "agent.db", size: 1 << 33)
        try Data(header.bytes(time: 0)).write(to: URL(filePath: path))
        let length = 512 + (1 << 33) + 1_024
        #expect(unsafe truncate(path, length) == 0)
        #expect(
            try run("tar", "--utc", "-tvf", path).hasPrefix("-rw------- 0/0      8589934592 1970-01-01 00:00 agent.db"))
    }
}
