@testable import StateArchive

/// What stands in a backup: the blocks of a tar, and the manifest.
enum BackupChecks {
    /// The bytes are a manifest, and once more a block, with and without the checksum that belongs to it.
    static func backup(_ input: [UInt8]) throws {
        if let manifest = try? Manifest(json: input) {
            try mustHold(try Manifest(json: manifest.json) == manifest, "what was written reads the same")
            for text in [manifest.version, manifest.createdAt] + manifest.schema {
                try mustBeOneLine(text, "what a manifest says")
            }
        }
        let block = Array((input + [UInt8](repeating: 0, count: TarHeader.blockSize)).prefix(TarHeader.blockSize))
        for block in [block, withChecksum(block)] {
            guard let header = TarHeader(block: block) else { continue }
            try mustHold(TarHeader(block: header.bytes(time: 0)) == header, "what was written reads the same")
            try mustHold((1...100).contains(header.name.utf8.count) && header.size >= 0, "name and size are bounded")
            try mustHold((0..<TarHeader.blockSize).contains(header.padding), "less than a block is padding")
            try mustHold((header.size % 512 + Int64(header.padding)) % 512 == 0, "an entry ends with a block")
            try mustBeOneLine(header.name, "a name")
        }
    }

    /// pax(1): six octal digits of the sum of all bytes, with spaces in the place of the sum.
    private static func withChecksum(_ block: [UInt8]) -> [UInt8] {
        var block = block
        block.replaceSubrange(148..<156, with: [UInt8](repeating: 0x20, count: 8))
        let sum = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
        let digits = String(repeating: "0", count: 6 - sum.utf8.count) + sum
        block.replaceSubrange(148..<156, with: Array(digits.utf8) + [0, 0x20])
        return block
    }
}
