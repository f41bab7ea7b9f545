import FoundationEssentials
import Keys

/// Time and randomness, passed in so that a test can choose them.
package struct Surroundings: Sendable {
    /// Seconds since 1970.
    package let now: @Sendable () -> Int64
    package let sleep: @Sendable (Duration) async throws -> Void
    /// That many octets nobody can guess.
    package let random: @Sendable (Int) throws -> [UInt8]

    package init(
        now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable (Int) throws -> [UInt8]
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The system's clock and OpenSSL's generator.
    package static let system = Surroundings(
        now: { Int64(Date().timeIntervalSince1970) },
        sleep: { try await Task.sleep(for: $0) },
        random: { count in try SecureRandom.octets(count) })

    /// An identifier of 128 random bits in the protocol's alphabet.
    func randomID() throws -> String { Base16.encode(try random(16)) }

    /// A random UUID (RFC 9562 §5.4, version 4), the form of EMV 3DS's transaction ids.
    func randomUUID() throws -> String {
        var octets = try random(16)
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
        return groups.map { Base16.encode(Array(octets[$0])) }.joined(separator: "-")
    }
}

/// Lower-case hexadecimal (RFC 4648 §8).
enum Base16 {
    private static let digits = Array("0123456789abcdef".utf8)

    static func encode(_ octets: [UInt8]) -> String {
        String(decoding: octets.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
