import Keys
import TextAndTime

@testable import WebAuthn

/// What the relying party of the samples expects.
enum Sample {
    static let rpId = "issuer.example"
    static let origin = "https://issuer.example"
    static let challenge = Array(UInt8(0)..<32)
    static let credentialId: [UInt8] = Array(repeating: 0xC1, count: 16)
    static let userHandle: [UInt8] = [0x0A, 0x0B]
    static let aaguid = Array(UInt8(100)..<116)
}

/// Client data of which a test changes one member.
struct SampleClientData {
    var type: String
    var challenge = Sample.challenge
    var origin = Sample.origin
    /// Whatever stands after `origin`.
    var rest = #","crossOrigin":false"#

    var bytes: [UInt8] {
        Array(
            #"{"type":"\#(type)","challenge":"\#(Base64URL.encode(challenge))","origin":"\#(origin)"\#(rest)}"#.utf8)
    }
}

/// A registration in order, of which a test changes one thing.
struct SampleRegistration {
    let key: SigningKey
    var clientData = SampleClientData(type: "webauthn.create")
    var rpId = Sample.rpId
    var flags: AuthenticatorFlags = [.userPresent, .userVerified]
    var format = AttestationFormat.none
    /// The packed statement's `alg`; nil is the key's own.
    var statedAlgorithm: SignatureAlgorithm?
    /// Changes a packed statement's signature.
    var alterSignature: ([UInt8]) -> [UInt8] = { $0 }

    init(format: AttestationFormat = .none, algorithm: SignatureAlgorithm = .es256) throws {
        key = try SigningKey.generate(algorithm)
        self.format = format
    }

    func response() throws -> RegistrationResponse {
        let credential = try AttestedCredential(
            aaguid: Sample.aaguid, credentialId: Sample.credentialId, publicKey: key.publicKey)
        let data = try AuthenticatorData(rpId: rpId, flags: flags, signCount: 0, attestedCredential: credential)
        let object = AttestationObject(authenticatorData: data.encoded(), statement: try statement(for: data))
        return try RegistrationResponse(
            credentialId: Sample.credentialId, clientDataJSON: clientData.bytes,
            attestationObject: object.encoded())
    }

    private func statement(for data: AuthenticatorData) throws -> AttestationStatement {
        guard format == .packed else { return .none }
        let signed = try SignedBytes.of(authenticatorData: data.encoded(), clientDataJSON: clientData.bytes)
        return .packedSelf(
            algorithm: statedAlgorithm ?? key.algorithm, signature: alterSignature(try key.signature(over: signed)))
    }

    func verify(userVerificationRequired: Bool = true, algorithms: [Int] = [-7, -35, -8]) throws -> VerifiedRegistration
    {
        try RegistrationVerifier.verify(
            response(), challenge: Sample.challenge, origin: Sample.origin, rpId: Sample.rpId,
            userVerificationRequired: userVerificationRequired, algorithms: algorithms)
    }
}

/// An assertion in order, of which a test changes one thing.
struct SampleAssertion {
    let key: SigningKey
    var credentialId = Sample.credentialId
    var userHandle: [UInt8]? = Sample.userHandle
    var clientData = SampleClientData(type: "webauthn.get")
    var rpId = Sample.rpId
    var flags: AuthenticatorFlags = [.userPresent, .userVerified]
    var signCount: UInt32 = 6
    var attestedCredential: AttestedCredential?
    var alterSignature: ([UInt8]) -> [UInt8] = { $0 }
    /// Changes the authenticator data after it was signed.
    var alterAuthenticatorData: ([UInt8]) -> [UInt8] = { $0 }

    init(algorithm: SignatureAlgorithm = .es256) throws { key = try SigningKey.generate(algorithm) }

    func response() throws -> AuthenticationResponse {
        let data = try AuthenticatorData(
            rpId: rpId, flags: flags, signCount: signCount, attestedCredential: attestedCredential
        ).encoded()
        let signed = try SignedBytes.of(authenticatorData: data, clientDataJSON: clientData.bytes)
        return AuthenticationResponse(
            credentialId: credentialId, clientDataJSON: clientData.bytes,
            authenticatorData: alterAuthenticatorData(data),
            signature: alterSignature(try key.signature(over: signed)), userHandle: userHandle)
    }

    func verify(
        userVerificationRequired: Bool = true, publicKey: PublicKey? = nil,
        signCount rule: SignCountRule = .mustRise(above: 5)
    ) throws -> UInt32 {
        try AssertionVerifier.verify(
            response(), publicKey: publicKey ?? key.publicKey, credentialId: Sample.credentialId,
            userHandle: Sample.userHandle, challenge: Sample.challenge, origin: Sample.origin, rpId: Sample.rpId,
            userVerificationRequired: userVerificationRequired, signCount: rule)
    }
}

/// The bytes that hexadecimal digits stand for; whatever is no digit is passed over, so long figures can have lines.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension [UInt8] {
    /// As text, for comparisons that a person reads when they fail.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// With the bits of one byte flipped; a negative index counts from the end.
    func flipping(_ index: Int) -> [UInt8] {
        var copy = self
        copy[index < 0 ? count + index : index] ^= 0x01
        return copy
    }
}
