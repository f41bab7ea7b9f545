import Dispatch
import Glibc
import Testing

@testable import Keys

// Each in a process of its own: the heap is made once, and what a process gave up it does not get back.
@Suite struct LockedMemoryTests {
    @Test func `a secret lies in memory that no swap and no core dump ever holds`() async {
        await #expect(processExitsWith: .success) {
            let before = Secret("made before the heap")
            #expect(LockedMemory.prepare())
            let secret = Secret("0123456789abcdef")
            let flags = try #require(Mapping(at: unsafe secret.withBytes { Int(bitPattern: $0.baseAddress) })?.flags)
            // proc(5), VmFlags of /proc/self/smaps: locked, do not include in core dump.
            #expect(flags.contains("lo") && flags.contains("dd"), "\(flags)")
            #expect(secret == Secret("0123456789abcdef") && before == Secret("made before the heap"))
            #expect(Secret([]).count == 0)
        }
    }

    @Test func `the memory of a secret is wiped there too`() async {
        await #expect(processExitsWith: .success) {
            #expect(LockedMemory.prepare())
            var bytes = [UInt8](repeating: 0, count: 64)
            let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
            func read(at address: Int) -> Bool {
                let count = unsafe pread(memory, &bytes, bytes.count, off_t(address))
                return bytes.prefix(max(0, count)).count { $0 == 0xA5 } > 8
            }
            func addressOfFreedSecret() -> Int {
                let secret = Secret([UInt8](repeating: 0xA5, count: 64))
                let address = unsafe secret.withBytes { Int(bitPattern: $0.baseAddress) }
                #expect(read(at: address))
                return address
            }
            #expect(!read(at: addressOfFreedSecret()))
        }
    }

    @Test func `when a private key has been read nothing of its encoding is left in memory`() async {
        await #expect(processExitsWith: .success) {
            #expect(LockedMemory.prepare())
            try Self.expectNothingLeft(afterReading: 64, under: nil)
        }
    }

    @Test func `when one under a PIN has been read nothing of it is left in memory either`() async {
        await #expect(processExitsWith: .success) {
            #expect(LockedMemory.prepare())
            try Self.expectNothingLeft(afterReading: 8, under: PIN(Secret("739182")))
        }
    }

    private static func expectNothingLeft(afterReading times: Int, under pin: PIN?) throws {
        let secret = try AgentSecret.generate()
        let key = try SigningKey.generate(.es256)
        let inverted = try Self.endOfPrivateKey(key.publicKey)
        let search = try #require(MemorySearch(for: inverted))
        let sealed = try secret.seal(key, label: "key", pin: pin)
        // In threads: each has memory of its own that it frees and takes again.
        DispatchQueue.concurrentPerform(iterations: times) { _ in
            let key = try? secret.openKey(sealed, label: "key", pin: pin)
            #expect(key != nil)
        }
        let isLeft = search.count > 0
        #expect(!isLeft)
        // It would have been found.
        let there = inverted.map { ~$0 }
        let isFound = search.count > 0
        withExtendedLifetime(there) { #expect(isFound) }
    }

    /// What follows the number in the encoding of a private key on P-256 (RFC 5915), which is nowhere else: [1], a BIT
    /// STRING, and the public point; inverted, so that it is not in memory.
    ///
    /// It is longer than a register, of which the stack keeps copies here and there.
    private static func endOfPrivateKey(_ publicKey: PublicKey) throws -> [UInt8] {
        guard case .p256(let x, let y) = publicKey.material else { throw KeyError.unsupported("not on P-256") }
        let head: [UInt8] = [0xA1, 0x44, 0x03, 0x42, 0x00, 0x04]
        return head.map { ~$0 } + x.map { ~$0 } + y.map { ~$0 }
    }

    @Test func `a process that may lock nothing keeps its secrets all the same, and says so`() async {
        await #expect(processExitsWith: .success) {
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            #expect(unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none) == 0)
            // root may lock memory whatever the limit is (capabilities(7), CAP_IPC_LOCK).
            if geteuid() == 0 { #expect(setuid(65_534) == 0) }
            #expect(!LockedMemory.prepare())
            #expect(Secret("0123456789abcdef") == Secret("0123456789abcdef"))
            let signature = try SigningKey.generate(.es256).signature(over: [1])
            #expect(!signature.isEmpty)
        }
    }

    @Test func `what does not fit any more is kept in other memory`() async {
        await #expect(processExitsWith: .success) {
            #expect(LockedMemory.prepare())
            let bytes = [UInt8](repeating: 7, count: 3 << 20)
            let large = Secret(bytes)
            #expect(large == Secret(bytes))
            let flags = try #require(Mapping(at: unsafe large.withBytes { Int(bitPattern: $0.baseAddress) })?.flags)
            #expect(!flags.contains("lo"))
            // Nothing of that is left where the next error is looked for.
            let signature = try SigningKey.generate(.es256).signature(over: [1])
            #expect(!signature.isEmpty)
        }
    }
}
