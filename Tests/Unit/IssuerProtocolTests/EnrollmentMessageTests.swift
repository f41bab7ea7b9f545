import IssuerProtocol
import Keys
import StrictJSON
import Testing
import WebAuthn

struct EnrollmentMessageTests {
    private let options = PublicKeyCredentialCreationOptions(
        rpId: "issuer.example", rpName: "Issuer", userId: [1], userName: "u", userDisplayName: "U",
        challenge: Array(repeating: 7, count: 32), pubKeyCredParams: [-7], excludeCredentials: [],
        userVerification: .required, attestation: .direct)

    private func request(ceremonyId: String = "c-1", name: String = "laptop", version: String = "1.0") throws
        -> EnrollmentRequest
    {
        let credential = try AttestedCredential(
            aaguid: AAGUID.test, credentialId: [9, 9], publicKey: SigningKey.generate(.es256).publicKey)
        let data = try AuthenticatorData(
            rpId: "issuer.example", flags: [.userPresent, .attestedCredentialData], signCount: 0,
            attestedCredential: credential)
        let attestation = AttestationObject(authenticatorData: data.encoded(), statement: .none)
        return EnrollmentRequest(
            ceremonyId: ceremonyId,
            credential: try RegistrationResponse(
                credentialId: [9, 9],
                clientDataJSON: ClientData.create(challenge: [1], origin: "https://issuer.example"),
                attestationObject: attestation.encoded()),
            name: name, version: version, authnType: .presence)
    }

    @Test func `a code is read back`() throws {
        let code = try #require(EnrollmentCode("7QK4-M2XD"))
        let request = EnrollmentOptionsRequest(enrollmentCode: code)
        #expect(request.bytes == Array(#"{"enrollmentCode":"7QK4-M2XD"}"#.utf8))
        #expect(try EnrollmentOptionsRequest(bytes: request.bytes).enrollmentCode.reveal() == "7QK4-M2XD")
    }

    @Test(arguments: ["{}", #"{"enrollmentCode":""}"#, #"{"enrollmentCode":1}"#])
    func `what holds no code is refused`(text: String) {
        #expect(throws: ProtocolError.self) { try EnrollmentOptionsRequest(bytes: Array(text.utf8)) }
    }

    @Test(arguments: [" 7QK4-M2XD\n", "\u{FEFF}7QK4-M2XD", "\r\n7QK4-M2XD\u{A0}\n\n"])
    func `what is around a code that was typed does not count`(text: String) {
        #expect(EnrollmentCode(typed: text)?.reveal() == "7QK4-M2XD")
    }

    @Test func `the options for a new credential are read back`() throws {
        let issuer = try IssuerURL("https://issuer.example")
        let answer = EnrollmentOptionsAnswer(ceremonyId: String(repeating: "~", count: 256), options: options)
        #expect(try EnrollmentOptionsAnswer(bytes: answer.json.serialized(), from: issuer) == answer)
    }

    @Test(arguments: ["", "a\n", "é", String(repeating: "x", count: 257)])
    func `a ceremony's id is 1 to 256 of printable ASCII`(ceremonyId: String) throws {
        let issuer = try IssuerURL("https://issuer.example")
        let answer = EnrollmentOptionsAnswer(ceremonyId: ceremonyId, options: options)
        #expect(throws: ProtocolError.self) {
            try EnrollmentOptionsAnswer(bytes: answer.json.serialized(), from: issuer)
        }
        let request = try request(ceremonyId: ceremonyId)
        #expect(throws: ProtocolError.self) { try EnrollmentRequest(bytes: request.bytes) }
    }

    @Test func `an enrollment is read back, and its bytes are the same each time`() throws {
        let request = try request()
        #expect(try EnrollmentRequest(bytes: request.bytes) == request)
        #expect(request.bytes == request.bytes)
        let authenticator = try JSONReader.object(request.bytes, limits: JSONLimits(maxBytes: 10_000)).object(
            "authenticator")
        #expect(authenticator == ["name": "laptop", "platform": "linux", "version": "1.0", "authnType": "presence"])
    }

    @Test func `the push subscription is read back, and one that is not in order is refused by its place`() throws {
        let subscription = PushSubscription(
            endpoint: try PushEndpoint("https://push.example/a"), recipient: try PushReceiverKey.generate().recipient)
        let plain = try request()
        let request = EnrollmentRequest(
            ceremonyId: plain.ceremonyId, credential: plain.credential, name: plain.name, version: plain.version,
            authnType: plain.authnType, pushSubscription: subscription)
        #expect(try EnrollmentRequest(bytes: request.bytes) == request)
        #expect(request != plain && plain.pushSubscription == nil)
        let text = String(decoding: request.bytes, as: UTF8.self)
        let wrong = text.replacing("https://push.example/a", with: "http://push.example/a")
        let refusal = try #require(throws: ProtocolError.self) { try EnrollmentRequest(bytes: Array(wrong.utf8)) }
        #expect("\(refusal)".contains("/pushSubscription/endpoint"))
    }

    @Test func `an authenticator's name and version are bounded`() throws {
        for request in try [request(name: ""), request(name: String(repeating: "x", count: 257)), request(version: "")]
        {
            #expect(throws: ProtocolError.self) { try EnrollmentRequest(bytes: request.bytes) }
        }
    }

    @Test func `an authnType that is not known is refused`() throws {
        let text = String(decoding: try request().bytes, as: UTF8.self)
        let other = text.replacing(#""authnType":"presence""#, with: #""authnType":"biometric""#)
        #expect(other != text)
        #expect(throws: ProtocolError.self) { try EnrollmentRequest(bytes: Array(other.utf8)) }
    }

    @Test func `the answer with id and token is read back`() throws {
        let body = Array(#"{"authenticatorId":"a-1","accessToken":"t0ken=="}"#.utf8)
        let answer = try EnrollmentAnswer(bytes: body)
        #expect(answer.authenticatorId.text == "a-1" && answer.accessToken.reveal() == "t0ken==")
        #expect(answer.json.serialized() == body)
    }

    @Test(arguments: [
        "{}", #"{"authenticatorId":"a"}"#, #"{"accessToken":"t"}"#, #"{"authenticatorId":"a/b","accessToken":"t"}"#,
        #"{"authenticatorId":"a","accessToken":"t t"}"#,
    ])
    func `an answer without either is refused, and the token is not in the error`(text: String) throws {
        let error = try #require(throws: ProtocolError.self) { try EnrollmentAnswer(bytes: Array(text.utf8)) }
        #expect(!"\(error)".contains("t t"))
    }
}
