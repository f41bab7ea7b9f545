package import Keys

/// A new credential as attested by the authenticator: attested credential data (WebAuthn Level 3 §6.5.1).
package struct AttestedCredential: Sendable, Equatable {
    package static let aaguidCount = 16
    /// The allowed length of a credential id in bytes (§7.1 step 25).
    package static let credentialIdCounts = 1...1_023

    /// The authenticator's model, 16 bytes.
    package let aaguid: [UInt8]
    /// 1 to 1,023 bytes.
    package let credentialId: [UInt8]
    package let publicKey: PublicKey

    package init(aaguid: [UInt8], credentialId: [UInt8], publicKey: PublicKey) throws(AuthenticatorDataError) {
        guard aaguid.count == Self.aaguidCount else { throw .aaguid }
        guard Self.credentialIdCounts.contains(credentialId.count) else { throw .credentialId }
        self.aaguid = aaguid
        self.credentialId = credentialId
        self.publicKey = publicKey
    }

    func encoded() -> [UInt8] {
        let length = UInt16(credentialId.count)
        return aaguid + [UInt8(length >> 8), UInt8(length & 0xFF)] + credentialId + COSEKey.encode(publicKey)
    }

    /// Reads the structure from the front of the bytes, and removes it.
    static func read(from bytes: inout ArraySlice<UInt8>) throws(AuthenticatorDataError) -> AttestedCredential {
        let aaguid = try bytes.removeFirst(aaguidCount)
        let length = try bytes.removeFirst(2).reduce(0) { $0 << 8 | Int($1) }
        let credentialId = try bytes.removeFirst(length)
        let (publicKey, consumed): (PublicKey, Int)
        do { (publicKey, consumed) = try COSEKey.decode(Array(bytes)) } catch { throw .publicKey(error) }
        bytes = bytes.dropFirst(consumed)
        return try AttestedCredential(aaguid: aaguid, credentialId: credentialId, publicKey: publicKey)
    }
}

extension ArraySlice<UInt8> {
    /// Removes and returns `count` bytes from the front.
    ///
    /// Throws if there are fewer.
    mutating func removeFirst(_ count: Int) throws(AuthenticatorDataError) -> [UInt8] {
        guard count <= self.count else { throw .truncated }
        defer { self = dropFirst(count) }
        return Array(prefix(count))
    }
}
