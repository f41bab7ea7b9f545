import FoundationEssentials
import Keys

/// Time and randomness, passed in so that a test can choose them.
package struct SandboxDependencies: Sendable {
    /// Seconds since 1970.
    package let now: @Sendable () -> Int64
    /// Milliseconds since 1970, for measuring durations.
    let milliseconds: @Sendable () -> Int64
    package let sleep: @Sendable (Duration) async throws -> Void
    /// Returns that many unpredictable bytes.
    package let random: @Sendable (Int) throws -> [UInt8]

    package init(
        now: @escaping @Sendable () -> Int64,
        milliseconds: (@Sendable () -> Int64)? = nil,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable (Int) throws -> [UInt8]
    ) {
        self.now = now
        self.milliseconds = milliseconds ?? { now() * 1_000 }
        self.sleep = sleep
        self.random = random
    }

    /// The system's clock and OpenSSL's generator.
    package static let system = SandboxDependencies(
        now: { Int64(Date().timeIntervalSince1970) },
        milliseconds: { Int64(Date().timeIntervalSince1970 * 1_000) },
        sleep: { try await Task.sleep(for: $0) },
        random: { count in try SecureRandom.bytes(count) })

    /// An identifier of 128 random bits in the protocol's alphabet.
    func randomID() throws -> String { Base16.encode(try random(16)) }

    /// A random UUID (RFC 9562 §5.4, version 4), the form of EMV 3DS's transaction ids.
    func randomUUID() throws -> String {
        var bytes = try random(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
        return groups.map { Base16.encode(Array(bytes[$0])) }.joined(separator: "-")
    }
}

/// Lower-case hexadecimal (RFC 4648 §8).
enum Base16 {
    private static let digits = Array("0123456789abcdef".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
