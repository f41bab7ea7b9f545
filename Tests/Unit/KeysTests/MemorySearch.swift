import Foundation
import Glibc

/// A mapping of this process's memory (proc(5), /proc/self/smaps).
struct Mapping {
    let range: Range<Int>
    let isWritable: Bool
    /// What follows VmFlags.
    fileprivate(set) var flags: [String] = []

    init?(at address: Int) {
        guard let found = Self.all.first(where: { $0.range.contains(address) }) else { return nil }
        self = found
    }

    /// From a line such as "7f0c-7f0d rw-p 00000000 00:00 0".
    private init?(heading words: [String]) {
        let ends = words.first?.split(separator: "-").compactMap { Int($0, radix: 16) } ?? []
        guard ends.count == 2, words.count > 1 else { return nil }
        range = ends[0]..<ends[1]
        isWritable = words[1].hasPrefix("rw")
    }

    static var all: [Mapping] {
        // Not by its size, which is 0.
        let bytes = (try? FileHandle(forReadingAtPath: "/proc/self/smaps")?.readToEnd()) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").reduce(into: []) { mappings, line in
            let words = line.split(separator: " ").map(String.init)
            if let mapping = Mapping(heading: words) {
                mappings.append(mapping)
            } else if words.first == "VmFlags:" {
                mappings[mappings.count - 1].flags = Array(words.dropFirst())
            }
        }
    }
}

/// Looks for bytes in all of this process's memory but its own.
@safe struct MemorySearch {
    private static let bytes = 1 << 20
    /// What is larger is a sanitizer's shadow, and no one's memory.
    private static let maxOfMapping = 1 << 30

    private let own: UnsafeMutableRawBufferPointer
    private let inverted: [UInt8]

    /// - Parameter inverted: what is looked for, each bit inverted: it must not be in memory itself.
    init?(for inverted: [UInt8]) {
        let memory = unsafe mmap(nil, Self.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { return nil }
        unsafe own = UnsafeMutableRawBufferPointer(start: memory, count: Self.bytes)
        self.inverted = inverted
    }

    /// How many pieces of memory hold it.
    var count: Int {
        let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer { close(memory) }
        return Mapping.all.filter { $0.isWritable && !isOwn($0) && $0.range.count <= Self.maxOfMapping }.map(\.range)
            .reduce(0) { found, range in
                // By halves, so that nothing is cut in two.
                found
                    + stride(from: range.lowerBound, to: range.upperBound, by: Self.bytes / 2).count {
                        holds(memory, from: $0, to: min($0 + Self.bytes, range.upperBound))
                    }
            }
    }

    private func isOwn(_ mapping: Mapping) -> Bool { unsafe mapping.range.contains(Int(bitPattern: own.baseAddress)) }

    private func holds(_ memory: CInt, from start: Int, to end: Int) -> Bool {
        let count = unsafe pread(memory, own.baseAddress, end - start, off_t(start))
        guard count >= inverted.count, let start = unsafe own.baseAddress else { return false }
        let words = unsafe own.assumingMemoryBound(to: UInt64.self)
        for index in words.indices { unsafe words[index] = ~words[index] }
        // Foundation would copy what it looks through, and find that copy in the next piece of memory.
        let end = unsafe start + (count - inverted.count + 1)
        var address = unsafe start
        while unsafe address < end, let found = unsafe memchr(address, CInt(inverted[0]), address.distance(to: end)) {
            if unsafe memcmp(found, inverted, inverted.count) == 0 { return true }
            unsafe address = unsafe UnsafeMutableRawPointer(found) + 1
        }
        return false
    }
}
