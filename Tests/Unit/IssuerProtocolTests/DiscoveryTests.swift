import IssuerProtocol
import Keys
import StrictJSON
import Testing
import TextAndTime

struct DiscoveryTests {
    private let issuer: IssuerURL
    private let good: JSONObject

    init() throws {
        issuer = try IssuerURL("https://issuer.example")
        let key = try SigningKey.generate(.es256).publicKey
        good =
            Discovery(
                issuer: issuer, jwksUri: "https://issuer.example/jwks.json?v=1",
                enrollmentOptionsEndpoint: "https://issuer.example/v1/enrollment-options",
                enrollmentsEndpoint: "https://issuer.example/v1/enrollments",
                authnRequestsEndpoint: "https://issuer.example/v1/authn-requests",
                authenticatorEndpoint: "https://issuer.example/v1/authenticator",
                batchFetchEndpoint: "https://issuer.example/v1/batch-fetch",
                vapidPublicKey: [0x04] + key.subjectPublicKeyInfo.suffix(64)
            ).json
    }

    private func read(_ name: String, _ value: JSONValue?) throws -> Discovery {
        var object = good
        object[name] = value
        return try Discovery(json: object.serialized(), expected: issuer)
    }

    @Test func `what is written is read back`() throws {
        #expect(try Discovery(json: good.serialized(), expected: issuer).json == good)
    }

    @Test func `batch fetch and push are optional`() throws {
        #expect(try read("batchFetchEndpoint", .none).batchFetchEndpoint == nil)
        #expect(try read("vapidPublicKey", .none).vapidPublicKey == nil)
    }

    @Test func `later versions beside ours and members that are not known do no harm`() throws {
        _ = try read("protocolVersions", [2, 1])
        _ = try read("later", true)
    }

    @Test(arguments: [.none, [], [2], ["1"], [.number("1.0")], 1] as [JSONValue?])
    func `a document without version 1 says which is spoken here`(versions: JSONValue?) {
        #expect(throws: ProtocolError.self) { try read("protocolVersions", versions) }
    }

    @Test func `the version error is for a person`() throws {
        let error = try #require(throws: ProtocolError.self) { try read("protocolVersions", [2]) }
        #expect("\(error)" == "discovery/protocolVersions: must hold 1, the only version spoken here")
    }

    @Test(
        arguments: [.none, "https://other.example", "https://issuer.example/", "https://ISSUER.example", 1]
            as [JSONValue?])
    func `another issuer's document is refused`(issuer: JSONValue?) {
        #expect(throws: ProtocolError.self) { try read("issuer", issuer) }
    }

    @Test(arguments: [
        (
            "http://localhost:8181", "; it is http://localhost:8181: give that URL if it is the one you mean"
        ),
        (
            "http://127.0.0.1:8181",
            "; it is http://127.0.0.1:8181, an IP address: let the issuer call itself by a name, on this host localhost"
        ), ("not \u{1B}[2Ja URL", ""), ("https://issuer.example/", ""),
    ])
    func `the refusal names the URL to use, and quotes nothing that is no issuer's URL`(
        named: String, end: String
    ) throws {
        let error = try #require(throws: ProtocolError.self) { try read("issuer", .string(named)) }
        #expect(
            "\(error)"
                == "discovery/issuer: must be https://issuer.example, the URL that it was fetched from" + end)
    }

    @Test(arguments: [
        "jwksUri", "enrollmentOptionsEndpoint", "enrollmentsEndpoint", "authnRequestsEndpoint", "authenticatorEndpoint",
        "batchFetchEndpoint",
    ])
    func `an address elsewhere is refused`(name: String) {
        for address in [
            "https://other.example/x", "http://issuer.example/x", "https://issuer.example.evil.example/x",
            "https://issuer.example@evil.example/x", "https://issuer.example:8443/x", "https://issuer.example",
            "https://issuer.example/a b", "https://issuer.example/é", "https://issuer.example/x#y",
            "https://issuer.example/\\x", "https://issuer.example/x\r\n", "", "/x",
            "https://issuer.example/" + String(repeating: "x", count: 2_048),
        ] {
            #expect(throws: ProtocolError.self, "\(address)") { try read(name, .string(address)) }
        }
    }

    @Test(arguments: [
        "jwksUri", "enrollmentOptionsEndpoint", "enrollmentsEndpoint", "authnRequestsEndpoint", "authenticatorEndpoint",
    ])
    func `every address has to be there`(name: String) {
        #expect(throws: ProtocolError.self) { try read(name, .none) }
    }

    @Test func `an endpoint has no query, since paths follow it`() {
        #expect(throws: ProtocolError.self) { try read("authenticatorEndpoint", "https://issuer.example/x?y") }
    }

    @Test func `the push key is a point on the curve`() {
        let offTheCurve = [0x04] + [UInt8](repeating: 1, count: 64)
        for point in [offTheCurve, Array(offTheCurve.dropLast()), [0x02] + [UInt8](repeating: 1, count: 64)] {
            #expect(throws: ProtocolError.self) { try read("vapidPublicKey", .string(Base64URL.encode(point))) }
        }
    }

    @Test(arguments: ["", "[]", "<html>", #"{"issuer":"https://issuer.example","issuer":"https://issuer.example"}"#])
    func `what is no strict JSON object is refused`(text: String) {
        #expect(throws: ProtocolError.self) { try Discovery(json: Array(text.utf8), expected: issuer) }
    }
}
