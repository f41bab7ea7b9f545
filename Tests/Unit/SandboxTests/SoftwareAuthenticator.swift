import IssuerProtocol
import Keys
import Sandbox
import TextAndTime
import WebAuthn

/// An authenticator made of the project's own parts, which can be right and, in one thing, wrong.
struct SoftwareAuthenticator: Sendable {
    /// What a registration or an assertion gets wrong.
    enum Wrong: Sendable {
        case nothing, challenge, origin, rpId, userPresence, key, credentialId, userHandle, clientDataType, bytes
        // Of an assertion alone.
        case crossOrigin, topOrigin, clientDataNoJSON, authenticatorDataTooShort, signature
    }

    let site: IssuerSite
    let key: SigningKey
    let credentialId: [UInt8]
    var id = ""
    var token = ""

    init(site: IssuerSite, algorithm: SignatureAlgorithm = .es256) throws {
        self.site = site
        key = try SigningKey.generate(algorithm)
        credentialId = try SecureRandom.bytes(32)
    }

    func enrolled(as answer: EnrollmentAnswer) -> SoftwareAuthenticator {
        var enrolled = self
        enrolled.id = answer.authenticatorId.text
        enrolled.token = answer.accessToken.reveal()
        return enrolled
    }

    /// The body of the call that enrolls.
    func enrollment(
        _ ceremony: EnrollmentOptionsAnswer, authnType: AuthnType = .presence, aaguid: [UInt8] = AAGUID.model,
        packed: Bool = false, flags: AuthenticatorFlags = .userPresent, wrong: Wrong = .nothing
    ) throws -> [UInt8] {
        let challenge = wrong == .challenge ? [UInt8](repeating: 0, count: 32) : ceremony.options.challenge
        let origin = wrong == .origin ? "http://localhost:1" : site.origin
        let credential = try AttestedCredential(
            aaguid: aaguid, credentialId: credentialId, publicKey: key.publicKey)
        let data = try AuthenticatorData(
            rpId: wrong == .rpId ? "example.com" : site.rpId, flags: wrong == .userPresence ? [] : flags, signCount: 0,
            attestedCredential: credential
        ).encoded()
        let make = wrong == .clientDataType ? ClientData.get : ClientData.create
        let clientData = make(challenge, origin)
        let signed = try SignedBytes.of(authenticatorData: data, clientDataJSON: clientData)
        let signer = wrong == .key ? try SigningKey.generate(key.algorithm) : key
        let statement: AttestationStatement =
            packed ? .packedSelf(algorithm: key.algorithm, signature: try signer.signature(over: signed)) : .none
        let response = try RegistrationResponse(
            credentialId: credentialId, clientDataJSON: clientData,
            attestationObject: AttestationObject(authenticatorData: data, statement: statement).encoded())
        return EnrollmentRequest(
            ceremonyId: ceremony.ceremonyId, credential: response, name: "test", version: "1", authnType: authnType
        ).bytes
    }

    /// The body of an approval.
    ///
    /// - Parameter payment: what the assertion says of a payment; nil for the plain form.
    func approval(
        of request: RequestView, signCount: UInt32 = 1, flags: AuthenticatorFlags = .userPresent,
        payment: PaymentClientData? = nil, wrong: Wrong = .nothing
    ) throws -> [UInt8] {
        let challenge = wrong == .challenge ? [UInt8](repeating: 0, count: 32) : request.challenge
        let origin = wrong == .origin ? "http://localhost:1" : site.origin
        let make = wrong == .clientDataType ? ClientData.create : ClientData.get
        let clientData =
            payment.map { ClientData.payment(challenge: challenge, origin: origin, $0) }
            ?? Self.unusual(wrong, challenge, origin) ?? make(challenge, origin)
        var data = try AuthenticatorData(
            rpId: wrong == .rpId ? "example.com" : site.rpId, flags: wrong == .userPresence ? [] : flags,
            signCount: signCount
        ).encoded()
        if wrong == .authenticatorDataTooShort { data.removeLast() }
        let signer = wrong == .key ? try SigningKey.generate(key.algorithm) : key
        var signature = try signer.signature(
            over: SignedBytes.of(authenticatorData: data, clientDataJSON: clientData))
        if wrong == .signature { signature[signature.count - 1] ^= 1 }
        // A much greater signCount: only the signature can tell.
        if wrong == .bytes { data[data.count - 4] ^= 1 }
        return DecisionBody.approve(
            AuthenticationResponse(
                credentialId: wrong == .credentialId ? [1, 2, 3] : credentialId, clientDataJSON: clientData,
                authenticatorData: data, signature: signature,
                userHandle: wrong == .userHandle ? [9, 9, 9] : nil))
    }

    /// Client data that no honest client of ours writes; nil for any other.
    private static func unusual(_ wrong: Wrong, _ challenge: [UInt8], _ origin: String) -> [UInt8]? {
        let start = #"{"type":"webauthn.get","challenge":"\#(Base64URL.encode(challenge))","origin":"\#(origin)""#
        return switch wrong {
        case .crossOrigin: Array(#"\#(start),"crossOrigin":true}"#.utf8)
        case .topOrigin: Array(#"\#(start),"crossOrigin":false,"topOrigin":"https://shop.example"}"#.utf8)
        case .clientDataNoJSON: Array("challenge=\(Base64URL.encode(challenge))".utf8)
        default: nil
        }
    }
}
