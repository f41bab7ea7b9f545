import Keys
import Testing

@testable import WebAuthn

@Suite struct AuthenticatorDataTests {
    /// §16.2's registration: UP, BE, BS and AT.
    static let registration =
        hex(
            """
            bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b5590000000084 46ccb9ab1db374750b2367ff6f3a1f
            0020f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4
            """) + COSEKeyTests.encoded

    private func sample(
        flags: AuthenticatorFlags = [.userPresent], signCount: UInt32 = 1, credential: AttestedCredential? = nil
    ) throws -> AuthenticatorData {
        try AuthenticatorData(
            rpId: W3CVector.rpId, flags: flags, signCount: signCount, attestedCredential: credential)
    }

    private func credential(idCount: Int) throws -> AttestedCredential {
        try AttestedCredential(
            aaguid: Array(repeating: 0xAA, count: 16), credentialId: Array(repeating: 0x1D, count: idCount),
            publicKey: try COSEKey.decode(COSEKeyTests.encoded).key)
    }

    @Test func `a registration's data is read as in the W3C's example`() throws {
        let data = try AuthenticatorData.parse(Self.registration)
        #expect(data.rpIdHash == (try SHA256Digest.of(Array("example.org".utf8))))
        #expect(data.flags == [.userPresent, .backupEligible, .backupState, .attestedCredentialData])
        #expect(data.signCount == 0)
        #expect(data.attestedCredential?.aaguid == W3CVector.none.aaguid)
        #expect(data.attestedCredential?.credentialId == W3CVector.none.credentialId)
        #expect(data.attestedCredential?.publicKey.material == .p256(x: COSEKeyTests.x, y: COSEKeyTests.y))
        #expect(data.encoded() == Self.registration)
    }

    @Test func `an assertion's data has 37 bytes, the count big-endian`() throws {
        let bytes = try sample(flags: [.userPresent, .userVerified], signCount: 0x0102_0304).encoded()
        #expect(bytes.count == 37)
        #expect(Array(bytes.suffix(5)) == [0x05, 1, 2, 3, 4])
        #expect(try AuthenticatorData.parse(bytes).signCount == 0x0102_0304)
    }

    @Test(arguments: [UInt32.min, .max])
    func `the least and the greatest count come back`(signCount: UInt32) throws {
        #expect(try AuthenticatorData.parse(sample(signCount: signCount).encoded()).signCount == signCount)
    }

    @Test func `the flag AT says whether a credential is there, whatever was asked for`() throws {
        #expect(try sample(flags: [.userPresent, .attestedCredentialData, .extensionData]).flags == .userPresent)
        let attested = try sample(credential: credential(idCount: 1))
        #expect(attested.flags == [.userPresent, .attestedCredentialData])
        #expect(try AuthenticatorData.parse(attested.encoded()) == attested)
    }

    @Test(arguments: [(0, false), (1, true), (1_023, true), (1_024, false)])
    func `a credential id has 1 to 1,023 bytes`(count: Int, isAllowed: Bool) throws {
        #expect(((try? credential(idCount: count)) != nil) == isAllowed)
        let key = COSEKeyTests.encoded
        let length = [UInt8(count >> 8), UInt8(count & 0xFF)]
        let start = Array(Self.registration[..<53])
        let bytes = start + length + [UInt8](repeating: 0x1D, count: count) + key
        #expect(((try? AuthenticatorData.parse(bytes)) != nil) == isAllowed)
    }

    @Test(arguments: [0, 15, 17])
    func `an AAGUID has 16 bytes`(count: Int) throws {
        let key = try COSEKey.decode(COSEKeyTests.encoded).key
        #expect(throws: AuthenticatorDataError.aaguid) {
            try AttestedCredential(aaguid: Array(repeating: 0, count: count), credentialId: [1], publicKey: key)
        }
    }

    @Test func `every proper prefix is refused`() {
        for count in Self.registration.indices {
            #expect(throws: AuthenticatorDataError.self) {
                try AuthenticatorData.parse(Array(Self.registration.prefix(count)))
            }
        }
    }

    @Test func `bytes after the end are refused`() throws {
        let assertion = try sample().encoded()
        #expect(throws: AuthenticatorDataError.trailingBytes) { try AuthenticatorData.parse(assertion + [0]) }
        #expect(throws: AuthenticatorDataError.trailingBytes) {
            try AuthenticatorData.parse(Self.registration + [0xA0])
        }
    }

    @Test func `flags that announce what is not there are refused`() throws {
        var assertion = try sample().encoded()
        assertion[32] |= AuthenticatorFlags.attestedCredentialData.rawValue
        #expect(throws: AuthenticatorDataError.truncated) { try AuthenticatorData.parse(assertion) }
        assertion[32] = AuthenticatorFlags.extensionData.rawValue
        #expect(throws: AuthenticatorDataError.extensions(CBORError(offset: 0, reason: .truncated))) {
            try AuthenticatorData.parse(assertion)
        }
    }

    @Test(arguments: ["a0", "a16b63726564 50726f7465637402"])
    func `extensions are read over and come back`(extensions: String) throws {
        for start in [try sample().encoded(), Self.registration] {
            var bytes = start + hex(extensions)
            bytes[32] |= AuthenticatorFlags.extensionData.rawValue
            let data = try AuthenticatorData.parse(bytes)
            #expect(data.flags.contains(.extensionData))
            #expect(data.encoded() == bytes)
            #expect(throws: AuthenticatorDataError.trailingBytes) { try AuthenticatorData.parse(bytes + [0]) }
        }
    }

    @Test func `extensions that are no map are refused`() throws {
        var bytes = try sample().encoded() + [0x80]
        bytes[32] |= AuthenticatorFlags.extensionData.rawValue
        #expect(throws: AuthenticatorDataError.extensions(nil)) { try AuthenticatorData.parse(bytes) }
    }

    @Test func `reserved flags are kept`() throws {
        var bytes = try sample().encoded()
        bytes[32] |= 0x22
        #expect(try AuthenticatorData.parse(bytes).encoded() == bytes)
    }

    @Test func `more than 64 KiB are refused`() {
        #expect(throws: AuthenticatorDataError.tooLarge) {
            try AuthenticatorData.parse(Array(repeating: 0, count: 65_537))
        }
    }

    @Test func `a key of another kind is refused with its reason`() {
        var bytes = Self.registration
        bytes[87 + 4] = 0x27  // alg −8 for −7
        #expect(throws: AuthenticatorDataError.publicKey(.unsupported)) { try AuthenticatorData.parse(bytes) }
    }
}
