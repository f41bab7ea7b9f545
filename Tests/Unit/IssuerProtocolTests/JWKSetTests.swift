import IssuerProtocol
import Keys
import StrictJSON
import Testing
import TextAndTime

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

    @Test(arguments: ["alg", "use", "key_ops"], [JSONValue?.none, .null])
    func `a key without alg, use or key_ops counts`(name: String, value: JSONValue?) throws {
        var jwk = good
        jwk[name] = value
        let set = try read([.object(jwk)])
        #expect(set["a"] == key && set.ignored.isEmpty)
    }

    @Test func `a key for ESP256, the later name of ES256 on P-256, counts`() throws {
        var jwk = good
        jwk["alg"] = "ESP256"
        #expect(try read([.object(jwk)])["a"] == key)
    }

    @Test(arguments: ["kty", "crv", "kid", "x", "y"])
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
            ["verify", 1], .object([:]),
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

    @Test func `a key that comes twice is one`() throws {
        var other = good
        other["alg"] = .none
        let set = try read([.object(good), .object(other), .object(good)])
        #expect(set["a"] == key && set.count == 1)
    }

    @Test func `a kid that stands for two keys makes the set useless`() throws {
        let another = try JWKSet(keys: [("a", SigningKey.generate(.es256).publicKey)]).json.array("keys")
        #expect(throws: ProtocolError.self) { try read([.object(good)] + another) }
        var other = good
        other["use"] = "enc"
        #expect(try read([.object(good), .object(other)])["a"] == key)
    }

    /// A JWK that breaks the rule, and what is said of it.
    private func broken(_ rule: IgnoredKey.Rule) -> (jwk: JSONValue, problem: String) {
        let (member, value, problem): (String, JSONValue?, String) =
            switch rule {
            case .object: ("", nil, "it is no JSON object")
            case .kty: ("kty", "RSA", #"kty is "RSA", and EC is taken"#)
            case .crv: ("crv", "secp256r1", #"crv is "secp256r1", and P-256 is taken"#)
            case .alg: ("alg", "ES384", #"alg is "ES384", and ES256 or ESP256 is taken, or none"#)
            case .use: ("use", "enc", #"use is "enc", and sig is taken, or none"#)
            case .keyOps: ("key_ops", [], "key_ops does not name verify")
            case .kid: ("kid", nil, "kid is missing, or no string of 1 to 256 bytes")
            case .x:
                (
                    "x", .string(Base64URL.encode(Array(repeating: 1, count: 31))),
                    "x has 31 bytes, and P-256 takes 32, with the zeros that it begins with"
                )
            case .y: ("y", "AAA=", "y is no base64url without padding")
            case .point: ("y", good["x"], "x and y are no point of P-256")
            }
        guard rule != .object else { return (1, problem) }
        var jwk = good
        jwk[member] = value
        return (.object(jwk), problem)
    }

    @Test(arguments: IgnoredKey.Rule.allCases)
    func `each reason to ignore a key is said, with its kid, if a message names it and if there is no other key`(
        rule: IgnoredKey.Rule
    ) throws {
        let (jwk, problem) = broken(rule)
        let set = try read([jwk])
        #expect(set.ignored.map(\.rule) == [rule] && set.ignored.map(\.problem) == [problem])
        let isNameless = rule == .object || rule == .kid
        #expect(
            set.absence(of: "a")
                == (isNameless
                    ? #"the issuer's JWK Set has no key "a"; a key in it without a usable kid is ignored: \#(problem)"#
                    : #"the key "a" of the issuer's JWK Set is ignored: \#(problem)"#))
        #expect(set.emptiness?.hasSuffix(problem) == true)
        #expect(try read([jwk, .object(good)]).emptiness == nil)
    }

    @Test func `what is said of ignored keys is printable and short, whatever the issuer wrote`() throws {
        let long = String(repeating: "\u{202E}\u{301}", count: 51)
        let keys = (0..<100).map { number -> JSONValue in
            ["kty": .string(long), "kid": .string("\(number % 10)" + long), "crv": .string(long)]
        }
        let set = try read(keys)
        #expect(set.ignored.count == 100)
        for text in [set.absence(of: "0" + long), set.absence(of: long), try #require(set.emptiness)] {
            #expect(text.utf8.count <= 1_200 && text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }
        #expect(set.ignored.allSatisfy { $0.problem.utf8.count <= 300 && ($0.kid?.utf8.count ?? 0) <= 256 })
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
