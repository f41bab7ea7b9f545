/// Where randomness comes from.
package protocol Entropy: Sendable {
    /// `count` bytes fit for keys, ids and nonces.
    func bytes(_ count: Int) throws -> [UInt8]
}
