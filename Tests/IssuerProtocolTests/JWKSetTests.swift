import IssuerProtocol
import Keys
import StrictJSON
import Testing

struct JWKSetTests {
    private let key: PublicKey
    private let good: JSONObject

    init() throws {
        key = try SigningKey.generate(.es256).publicKey
        let jwks = try JWKSet(keys: [("a", key)]).json.array("keys").compactMap { each -> JSONObject? in
            if case .object(let jwk) = each { jwk } else { nil }
        }
        good = try #require(jwks.first)
    }

    private func read(_ keys: [JSONValue]) throws -> JWKSet {
        try JWKSet(json: JSONObject([.init(name: "keys", value: .array(keys))]).serialized())
    }

    @Test func `what is written is read back`() throws {
        #expect(try read([.object(good)])["a"] == key)
    }

    @Test func `a kid is compared by bytes`() throws {
        let set = try read([.object(good)])
        #expect(set["A"] == nil && set["a\u{301}"] == nil && set[""] == nil)
    }

    @Test(arguments: [SignatureAlgorithm.es384, .eddsa])
    func `a key for another algorithm than ES256 is in no set`(algorithm: SignatureAlgorithm) throws {
        let set = JWKSet(keys: [("a", key), ("b", try SigningKey.generate(algorithm).publicKey)])
        #expect(set["a"] == key && set["b"] == nil)
        #expect(try set.json.array("keys") == [.object(good)])
    }

    @Test(arguments: ["kty", "crv", "alg", "use", "kid", "x", "y"])
    func `a key without one of its members is ignored`(name: String) throws {
        var jwk = good
        jwk[name] = .none
        #expect(try read([.object(jwk)])["a"] == nil)
    }

    @Test(
        arguments: [
            ("kty", "RSA"), ("crv", "P-384"), ("alg", "ES384"), ("use", "enc"), ("kid", 1), ("kid", ""), ("x", "AA"),
            ("y", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"),
        ] as [(String, JSONValue)])
    func `a key of another kind is ignored, and the others count`(name: String, value: JSONValue) throws {
        var other = good
        other["kid"] = "b"
        other[name] = value
        let set = try read([.object(other), "no key", .object(good)])
        #expect(set["b"] == nil && set["a"] == key)
    }

    @Test(
        arguments: [
            [], "verify", ["sign"], ["verify", "verify"], ["verify", "encrypt"], ["verify", "decrypt"],
            ["wrapKey", "verify"], ["unwrapKey", "verify"], ["deriveKey", "verify"], ["deriveBits", "verify"],
            ["verify", 1], .null, .object([:]),
        ] as [JSONValue])
    func `a key whose key_ops contradict its use is ignored, and the others count`(operations: JSONValue) throws {
        var other = good
        other["kid"] = "b"
        other["key_ops"] = operations
        let set = try read([.object(other), .object(good)])
        #expect(set["b"] == nil && set["a"] == key)
    }

    @Test(arguments: [["verify"], ["sign", "verify"], ["verify", "an operation of later"]] as [JSONValue])
    func `a key whose key_ops agree with its use counts`(operations: JSONValue) throws {
        var other = good
        other["key_ops"] = operations
        #expect(try read([.object(other)])["a"] == key)
    }

    @Test func `a kid that stands for two keys makes the set useless`() throws {
        #expect(throws: ProtocolError.self) { try read([.object(good), .object(good)]) }
        var other = good
        other["use"] = "enc"
        #expect(try read([.object(good), .object(other)])["a"] == key)
    }

    @Test func `100 keys are taken and no more`() throws {
        #expect(try read([.object(good)] + Array(repeating: [:], count: 99))["a"] == key)
        #expect(throws: ProtocolError.self) { try read([.object(good)] + Array(repeating: [:], count: 100)) }
    }

    @Test(arguments: ["", "{}", "[]", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#])
    func `what is no JWK Set is refused`(text: String) {
        #expect(throws: ProtocolError.self) { try JWKSet(json: Array(text.utf8)) }
    }
}
