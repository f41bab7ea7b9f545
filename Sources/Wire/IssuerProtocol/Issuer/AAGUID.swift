/// The authenticator models (WebAuthn §6.5.1): identifiers of this software, made at random and fixed.
package enum AAGUID {
    /// a005348c-3f2a-494f-8499-381bd75baa35: enrollments of authnType `pin` and `presence`.
    package static let model: [UInt8] = [
        0xA0, 0x05, 0x34, 0x8C, 0x3F, 0x2A, 0x49, 0x4F, 0x84, 0x99, 0x38, 0x1B, 0xD7, 0x5B, 0xAA, 0x35,
    ]
    /// 691d2203-e143-412b-a8d7-5bd1fd82c2c8: an authenticator that claims user verification for the sake of a test.
    package static let test: [UInt8] = [
        0x69, 0x1D, 0x22, 0x03, 0xE1, 0x43, 0x41, 0x2B, 0xA8, 0xD7, 0x5B, 0xD1, 0xFD, 0x82, 0xC2, 0xC8,
    ]
}
