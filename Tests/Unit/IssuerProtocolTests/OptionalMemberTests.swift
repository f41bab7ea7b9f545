import IssuerProtocol
import Keys
import StrictJSON
import Testing
import TextAndTime

/// Members that RFC 7515, 7517 and 7519 leave open, and their outcome.
@Suite struct OptionalMemberTests {
    private let key: SigningKey
    private let keys: JWKSet

    init() throws {
        key = try SigningKey.generate(.es256)
        keys = JWKSet(keys: [("a", key.publicKey)])
    }

    private static let header: JSONObject = ["alg": "ES256", "kid": "a", "typ": "oob-authn-cancel+jwt"]

    /// A cancellation, which is short, with some members changed; nil takes one away.
    private func read(header: JSONObject = [:], claims: JSONObject = [:]) throws -> MessageVerdict {
        let facts = try LibraryFixtureTests.facts()
        let payload = Self.merged(
            [
                "iss": .string(facts.issuer.text), "aud": .string(facts.authenticatorId.text), "jti": "j", "iat": 1_000,
                "exp": 1_300, "cancels": "request",
            ], claims)
        let parts = [Self.merged(Self.header, header), payload].map { Base64URL.encode($0.serialized()) }
        let signed = Array(parts.joined(separator: ".").utf8)
        let jws = CompactJWS.compact(signingInput: signed, signature: try key.rawSignature(over: signed))
        return AuthnRequestReader.read(jws, for: facts, keys: keys, now: 1_001)
    }

    private static func merged(_ object: JSONObject, _ changes: JSONObject) -> JSONObject {
        var object = object
        for member in changes.members { object[member.name] = member.value }
        return object
    }

    private static func isTaken(_ verdict: MessageVerdict) -> Bool {
        if case .cancellation = verdict { true } else { false }
    }

    @Test(
        arguments: [
            "jku", "jwk", "x5u", "x5c", "x5t", "x5t#S256", "cty", "iss", "aud", "b64", "zip",
            "https://issuer.example/x",
        ])
    func `a header member that is not needed is ignored, and nothing is fetched or trusted by it`(
        name: String
    ) throws {
        #expect(Self.isTaken(try read(header: [name: "https://other.example/keys"])))
    }

    @Test(arguments: ["sub", "nbf", "azp", "https://issuer.example/claim"])
    func `a claim that is not needed is ignored`(name: String) throws {
        #expect(Self.isTaken(try read(claims: [name: 4_000])))
    }

    @Test(arguments: [
        "oob-authn-cancel+jwt", "application/oob-authn-cancel+jwt", "Application/OOB-Authn-Cancel+JWT",
    ])
    func `typ is a media type, in either case and with or without application`(typ: String) throws {
        #expect(Self.isTaken(try read(header: ["typ": .string(typ)])))
    }

    @Test(arguments: [
        "JWT", "application/jwt", "oob-authn-cancel", "application/application/oob-authn-cancel+jwt",
        "text/oob-authn-cancel+jwt", "oob-authn-cancel+jwt; v=1", " oob-authn-cancel+jwt",
        "oob-authn-cancel+jwt\u{301}",
    ])
    func `another typ is not taken`(typ: String) throws {
        guard case .notAuthentic(.typ) = try read(header: ["typ": .string(typ)]) else {
            Issue.record("\(typ) was taken")
            return
        }
    }

    @Test func `alg ESP256, the later name of ES256 on P-256, is taken`() throws {
        #expect(Self.isTaken(try read(header: ["alg": "ESP256"])))
    }

    @Test(arguments: ["ES384", "ESP384", "ES256K", "RS256", "HS256", "none", "es256", ""])
    func `another alg is not taken`(alg: String) throws {
        guard case .notAuthentic(.alg) = try read(header: ["alg": .string(alg)]) else {
            Issue.record("\(alg) was taken")
            return
        }
    }

    @Test func `members that are not needed are ignored, in a key and in its set`() throws {
        var set = keys.json
        guard case .object(var jwk)? = try set.array("keys").first else { return }
        for name in ["x5u", "x5c", "x5t", "x5t#S256", "d", "exp", "https://issuer.example/x"] { jwk[name] = "AQ" }
        (set["keys"], set["next"]) = ([.object(jwk)], 1)
        let read = try JWKSet(json: set.serialized())
        #expect(read["a"] == key.publicKey && read.ignored.isEmpty)
    }

    @Test func `a member that is there twice, in a key or in its set, makes the set invalid`() throws {
        let text = String(decoding: keys.json.serialized(), as: UTF8.self)
        for (one, two) in [(#""kid":"a""#, #""kid":"a","kid":"a""#), (#"{"keys""#, #"{"keys":[],"keys""#)] {
            let twice = text.replacing(one, with: two)
            #expect(twice != text)
            #expect(throws: ProtocolError.self) { try JWKSet(json: Array(twice.utf8)) }
        }
    }
}
