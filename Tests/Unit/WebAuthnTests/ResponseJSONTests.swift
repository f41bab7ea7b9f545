import Keys
import StrictJSON
import Testing
import TextAndTime

@testable import WebAuthn

@Suite struct ResponseJSONTests {
    static let limits = JSONLimits(maxBytes: 65_536)

    private func reread(_ json: JSONObject) throws -> JSONObject {
        try JSONReader.object(JSONValue.object(json).serialized(), limits: Self.limits)
    }

    /// The path of the error that a reading throws.
    private func path(of read: () throws -> Void) throws -> String {
        try #require(throws: WebAuthnError.self) { try read() }.path
    }

    @Test(arguments: AttestationFormat.allCases, SignatureAlgorithm.allCases)
    func `a registration response comes back from its JSON`(
        format: AttestationFormat, algorithm: SignatureAlgorithm
    ) throws {
        let response = try SampleRegistration(format: format, algorithm: algorithm).response()
        #expect(try RegistrationResponse(json: reread(response.json)) == response)
    }

    @Test func `a registration response has all members of the W3C's form, in its order`() throws {
        let json = try SampleRegistration().response().json
        #expect(
            json.members.map(\.name) == [
                "id", "rawId", "response", "authenticatorAttachment", "clientExtensionResults", "type",
            ])
        #expect(
            try json.object("response").members.map(\.name) == [
                "clientDataJSON", "authenticatorData", "transports", "publicKey", "publicKeyAlgorithm",
                "attestationObject",
            ])
    }

    @Test(arguments: [(SignatureAlgorithm.es256, 91), (.es384, 120), (.eddsa, 44)])
    func `a registration response copies what its attestation object says`(
        algorithm: SignatureAlgorithm, count: Int
    ) throws {
        let sample = try SampleRegistration(algorithm: algorithm)
        let json = try sample.response().json
        let response = try json.object("response")
        let spki = try response.base64url("publicKey", bytes: count...count)
        #expect(try PublicKey(subjectPublicKeyInfo: spki) == sample.key.publicKey)
        #expect(response["publicKeyAlgorithm"] == .integer(Int64(algorithm.rawValue)))
        #expect(response["transports"] == ["internal"])
        #expect(json["authenticatorAttachment"] == "platform")
        #expect(json["type"] == "public-key")
    }

    static let wrongRegistrationMembers: [(String, JSONValue?)] = [
        ("authenticatorData", .string(Base64URL.encode(Array(repeating: 0, count: 37)))),
        ("publicKey", "AQ"), ("publicKeyAlgorithm", -8), ("publicKeyAlgorithm", nil), ("authenticatorData", nil),
        ("clientDataJSON", nil), ("clientDataJSON", ""), ("attestationObject", nil), ("attestationObject", "oA"),
        ("transports", nil), ("transports", "internal"),
    ]

    @Test(arguments: wrongRegistrationMembers)
    func `a registration response with a member that is wrong is refused`(name: String, value: JSONValue?) throws {
        var json = try SampleRegistration().response().json
        var response = try json.object("response")
        response[name] = value
        json["response"] = .object(response)
        #expect(try path { _ = try RegistrationResponse(json: json) } == "/response/\(name)")
    }

    @Test func `a registration response may leave its public key out`() throws {
        var json = try SampleRegistration().response().json
        var response = try json.object("response")
        response["publicKey"] = nil
        json["response"] = .object(response)
        #expect(try RegistrationResponse(json: json).credentialId == Sample.credentialId)
    }

    @Test func `a registration response names the credential that it attests`() throws {
        let sample = try SampleRegistration().response()
        let other = try path {
            _ = try RegistrationResponse(
                credentialId: [1], clientDataJSON: sample.clientDataJSON,
                attestationObject: sample.attestationObject)
        }
        #expect(other == "/rawId")
    }

    @Test func `a registration response attests a credential`() throws {
        let data = try AuthenticatorData(rpId: Sample.rpId, flags: .userPresent, signCount: 0)
        let object = AttestationObject(authenticatorData: data.encoded(), statement: .none)
        let error = try #require(throws: WebAuthnError.self) {
            try RegistrationResponse(
                credentialId: [1], clientDataJSON: [1], attestationObject: object.encoded())
        }
        #expect(error == WebAuthnError(path: "/response/attestationObject", problem: "attests no credential"))
    }

    static let wrongMembers: [(String, JSONValue?)] = [
        ("id", "AQ"), ("rawId", "AQ"), ("rawId", nil), ("type", "password"), ("type", nil),
        ("response", nil), ("response", .array([])), ("clientExtensionResults", nil),
        ("clientExtensionResults", .array([])),
    ]

    @Test(arguments: wrongMembers)
    func `both responses are refused with a member that is wrong`(name: String, value: JSONValue?) throws {
        var registration = try SampleRegistration().response().json
        var authentication = try SampleAssertion().response().json
        registration[name] = value
        authentication[name] = value
        let place = name == "id" ? "/rawId" : "/\(name)"
        #expect(try path { _ = try RegistrationResponse(json: registration) } == place)
        #expect(try path { _ = try AuthenticationResponse(json: authentication) } == place)
    }

    @Test func `an authentication response comes back from its JSON, with a user handle and without`() throws {
        var sample = try SampleAssertion()
        let response = try sample.response()
        #expect(try AuthenticationResponse(json: reread(response.json)) == response)
        sample.userHandle = nil
        let anonymous = try sample.response()
        #expect(try anonymous.json.object("response")["userHandle"] == nil)
        #expect(try AuthenticationResponse(json: reread(anonymous.json)) == anonymous)
    }

    static let wrongAuthenticationMembers: [(String, JSONValue?)] = [
        ("clientDataJSON", nil), ("authenticatorData", nil), ("authenticatorData", ""),
        ("signature", nil), ("signature", ""), ("signature", "A"), ("userHandle", ""), ("userHandle", 1),
    ]

    @Test(arguments: wrongAuthenticationMembers)
    func `an authentication response with a member that is wrong is refused`(name: String, value: JSONValue?) throws {
        var json = try SampleAssertion().response().json
        var response = try json.object("response")
        response[name] = value
        json["response"] = .object(response)
        #expect(try path { _ = try AuthenticationResponse(json: json) } == "/response/\(name)")
    }
}
