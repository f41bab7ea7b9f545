import Glibc
import Testing

@testable import Keys

// One after the other: all use the same pattern.
@Suite(.serialized) struct WipingTests {
    private static let secretBytes = [UInt8](repeating: MemoryWindow.pattern, count: MemoryWindow.count)

    @Test func `the memory of a secret is wiped when the last copy goes`() {
        var window = MemoryWindow()
        let address = addressOfFreedSecret()
        let isLeft = window.holdsPattern(at: address)
        #expect(!isLeft)
    }

    @Test func `the memory is wiped also if filling it fails half way`() {
        var window = MemoryWindow()
        var address = 0
        #expect(throws: OpenSSLError.self) {
            try unsafe Secret(count: MemoryWindow.count) { buffer throws(OpenSSLError) in
                address = Int(bitPattern: buffer.baseAddress)
                unsafe buffer.copyBytes(from: Self.secretBytes)
                throw OpenSSLError(function: "test", reasons: [])
            }
        }
        let isLeft = window.holdsPattern(at: address)
        #expect(address != 0 && !isLeft)
    }

    @Test func `the array that a secret was made from is wiped`() {
        var window = MemoryWindow()
        var bytes = Self.secretBytes
        bytes.reserveCapacity(MemoryWindow.count + 1)
        let address = unsafe bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
        let wasThere = window.holdsPattern(at: address)
        let secret = Secret(wiping: &bytes)
        let isLeft = window.holdsPattern(at: address)
        #expect(wasThere && !isLeft)
        #expect(secret.count == MemoryWindow.count && bytes.isEmpty)
    }

    private func addressOfFreedSecret() -> Int {
        let secret = Secret(Self.secretBytes)
        return unsafe secret.withBytes { Int(bitPattern: $0.baseAddress) }
    }
}

/// Looks at freed memory through the kernel, which may read what a program may not.
///
/// Other threads may have taken and changed that memory meanwhile; they cannot have put the pattern there.
private struct MemoryWindow {
    static let pattern: UInt8 = 0xA5
    static let count = 4_096

    // Made before the memory in question is freed, or it might be given just that memory.
    private var bytes = [UInt8](repeating: 0, count: count)

    /// Whether the pattern is at an address of this process; false where nothing is mapped there any more.
    mutating func holdsPattern(at address: Int) -> Bool {
        let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer { close(memory) }
        let count = unsafe pread(memory, &bytes, bytes.count, off_t(address))
        // An allocator writes its own links into the first bytes of what was freed.
        return bytes.prefix(max(0, count)).count { $0 == Self.pattern } > 64
    }
}
