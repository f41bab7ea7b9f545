package import Keys

/// Authenticator data (WebAuthn Level 3 §6.1): the bytes that an authenticator signs with the hash of the client data.
package struct AuthenticatorData: Sendable, Equatable {
    /// The maximum number of bytes that are read.
    package static let maxBytes = 65_536

    /// SHA-256 of the RP ID, 32 bytes.
    package let rpIdHash: [UInt8]
    /// The flags.
    ///
    /// AT and ED are set exactly if a credential and extensions are present.
    package let flags: AuthenticatorFlags
    package let signCount: UInt32
    /// The new credential, in a registration.
    package let attestedCredential: AttestedCredential?
    /// Authenticator extension outputs.
    ///
    /// This code makes none, and keeps received outputs unread.
    package let extensions: CBORMap?

    /// Creates data for an RP ID, without extensions.
    ///
    /// The AT flag is set if a credential is given.
    package init(
        rpId: String, flags: AuthenticatorFlags, signCount: UInt32, attestedCredential: AttestedCredential? = nil
    ) throws(OpenSSLError) {
        self.init(
            rpIdHash: try SHA256Digest.of(Array(rpId.utf8)), flags: flags, signCount: signCount,
            attestedCredential: attestedCredential, extensions: nil)
    }

    private init(
        rpIdHash: [UInt8], flags: AuthenticatorFlags, signCount: UInt32, attestedCredential: AttestedCredential?,
        extensions: CBORMap?
    ) {
        let present: AuthenticatorFlags = [
            attestedCredential == nil ? [] : .attestedCredentialData, extensions == nil ? [] : .extensionData,
        ]
        self.rpIdHash = rpIdHash
        self.flags = flags.subtracting([.attestedCredentialData, .extensionData]).union(present)
        self.signCount = signCount
        self.attestedCredential = attestedCredential
        self.extensions = extensions
    }

    package func encoded() -> [UInt8] {
        let count = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: signCount >> UInt32($0)) }
        let credential = attestedCredential?.encoded() ?? []
        let extensionData = extensions.map { CBOR.map($0).encoded() } ?? []
        return rpIdHash + [flags.rawValue] + count + credential + extensionData
    }

    /// Parses authenticator data, which must be the whole input.
    ///
    /// For each input that it accepts, `parse(bytes).encoded() == bytes`.
    package static func parse(_ bytes: [UInt8]) throws(AuthenticatorDataError) -> AuthenticatorData {
        guard bytes.count <= maxBytes else { throw .tooLarge }
        var rest = bytes[...]
        let rpIdHash = try rest.removeFirst(32)
        let flags = AuthenticatorFlags(rawValue: try rest.removeFirst(1)[0])
        let signCount = try rest.removeFirst(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let credential = flags.contains(.attestedCredentialData) ? try AttestedCredential.read(from: &rest) : nil
        let extensions = flags.contains(.extensionData) ? try extensionMap(from: &rest) : nil
        guard rest.isEmpty else { throw .trailingBytes }
        return AuthenticatorData(
            rpIdHash: rpIdHash, flags: flags, signCount: signCount, attestedCredential: credential,
            extensions: extensions)
    }

    private static func extensionMap(from bytes: inout ArraySlice<UInt8>) throws(AuthenticatorDataError) -> CBORMap {
        let (item, consumed): (CBOR, Int)
        do { (item, consumed) = try CBOR.decodePrefix(Array(bytes)) } catch { throw .extensions(error) }
        guard case .map(let map) = item else { throw .extensions(nil) }
        bytes = bytes.dropFirst(consumed)
        return map
    }
}

/// An error in the bytes of authenticator data, or in a value for them.
package enum AuthenticatorDataError: Error, Equatable, Sendable, CustomStringConvertible {
    case tooLarge
    case truncated
    case trailingBytes
    case aaguid
    case credentialId
    case publicKey(COSEKeyError)
    /// The extension data is malformed.
    ///
    /// Without a CBOR error, it is not a map.
    case extensions(CBORError?)

    package var description: String {
        "authenticator data: \(problem)"
    }

    private var problem: String {
        switch self {
        case .tooLarge: "more than \(AuthenticatorData.maxBytes) bytes"
        case .truncated: "ends too early"
        case .trailingBytes: "bytes after the end"
        case .aaguid: "an AAGUID has \(AttestedCredential.aaguidCount) bytes"
        case .credentialId: "a credential id has 1 to 1,023 bytes"
        case .publicKey(let error): "\(error)"
        case .extensions(let error?): "extensions: \(error)"
        case .extensions(nil): "extensions: not a map"
        }
    }
}

/// The flags of authenticator data (WebAuthn Level 3 §6.1).
///
/// Bits 1 and 5 are reserved and kept unchanged.
package struct AuthenticatorFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// UP: a test of user presence succeeded.
    package static let userPresent = AuthenticatorFlags(rawValue: 0x01)
    /// UV: the user was verified.
    package static let userVerified = AuthenticatorFlags(rawValue: 0x04)
    /// BE: the credential may be backed up.
    package static let backupEligible = AuthenticatorFlags(rawValue: 0x08)
    /// BS: the credential is backed up.
    package static let backupState = AuthenticatorFlags(rawValue: 0x10)
    /// AT: attested credential data follows.
    package static let attestedCredentialData = AuthenticatorFlags(rawValue: 0x40)
    /// ED: extension data follows.
    package static let extensionData = AuthenticatorFlags(rawValue: 0x80)
}

/// The bytes that an assertion and a self attestation sign (WebAuthn Level 3 §6.3.3 step 11, §8.2).
package enum SignedBytes {
    /// Returns the authenticator data, followed by SHA-256 of the client data.
    package static func of(authenticatorData: [UInt8], clientDataJSON: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        authenticatorData + (try SHA256Digest.of(clientDataJSON))
    }
}
