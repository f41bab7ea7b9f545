import Keys
import Testing

/// What is encrypted under a data key opens under that key, in its place, and as it is.
struct DataKeyCipherTests {
    private let key: DataKey

    init() throws { key = try DataKey.generate() }

    @Test func `it opens in its place, and each time it is other bytes`() throws {
        let plain = Array("merchantName".utf8)
        let encrypted = [try key.encrypt(plain, for: "here"), try key.encrypt(plain, for: "here")]
        #expect(encrypted[0] != encrypted[1])
        for each in encrypted { #expect(try key.decrypt(each, for: "here") == plain) }
        let again = try #require(DataKey(key.secret))
        #expect(try again.decrypt(encrypted[0], for: "here") == plain)
    }

    @Test func `in another place, under another key or changed it does not`() throws {
        let encrypted = try key.encrypt([1, 2, 3], for: "here")
        #expect(try key.decrypt(encrypted, for: "there") == nil)
        #expect(try DataKey.generate().decrypt(encrypted, for: "here") == nil)
        for index in encrypted.indices {
            var changed = encrypted
            changed[index] ^= 1
            #expect(try key.decrypt(changed, for: "here") == nil)
        }
        for count in 0..<encrypted.count {
            #expect(try key.decrypt(Array(encrypted.prefix(count)), for: "here") == nil)
        }
    }

    @Test func `a key has 32 bytes`() throws {
        for count in [0, 31, 33] { #expect(DataKey(Secret(Array(repeating: 1, count: count))) == nil) }
    }
}
