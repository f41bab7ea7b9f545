/// Lengths that the standard or the caution of a reader puts on members, in bytes.
enum MemberBounds {
    /// §13.4.3 asks for 16 at least.
    static let challenge = 16...1_024
    /// A domain name's length.
    static let rpId = 1...253
    static let userHandle = 1...64
    static let name = 0...1_024
    static let clientDataJSON = 1...CollectedClientData.maxBytes
    static let attestationObject = 1...65_536
    /// The 37 that are always there, and what extensions may add.
    static let authenticatorData = 37...65_536
    static let signature = 1...1_024
    static let descriptors = 0...256
}
