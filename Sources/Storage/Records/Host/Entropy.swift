/// A source of random bytes.
package protocol Entropy: Sendable {
    /// Returns `count` random bytes that are fit for keys, ids and nonces.
    func bytes(_ count: Int) throws -> [UInt8]
}
