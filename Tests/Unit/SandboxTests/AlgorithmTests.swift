import IssuerProtocol
import Keys
import Sandbox
import StrictJSON
import Testing
import WebAuthn

@Suite struct AlgorithmTests {
    @Test func `every algorithm is offered if a code says nothing, ES256 first`() async throws {
        let issuer = try TestIssuer()
        #expect(try await issuer.options().options.pubKeyCredParams == [-7, -35, -8])
        #expect(try await issuer.options(["algorithms": nil]).options.pubKeyCredParams == [-7, -35, -8])
    }

    @Test(arguments: [[-8, -7], [-35], [-257, -7], [2_147_483_647, -2_147_483_648], Array(-16 ... -1)])
    func `a code's algorithms are offered in its order, known or not`(algorithms: [Int]) async throws {
        let issuer = try TestIssuer()
        let numbers = JSONValue.array(algorithms.map { .integer(Int64($0)) })
        #expect(try await issuer.options(["algorithms": numbers]).options.pubKeyCredParams == algorithms)
    }

    @Test(arguments: [
        "[]", "-7", "{}", #"["-7"]"#, "[-7.0]", "[2147483648]", "[null]",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
    ])
    func `what is no list of 1 to 16 numbers is refused in words`(json: String) async throws {
        let issuer = try TestIssuer()
        let body = Array(#"{"algorithms":\#(json)}"#.utf8)
        let reply = await issuer.call("POST", "/sandbox/enrollment-codes", body: body)
        #expect(reply.status == 400)
        #expect(reply.detail == "algorithms: must be 1 to 16 COSE algorithm numbers, such as [-8, -7]")
    }

    @Test(arguments: SignatureAlgorithm.allCases, ["none", "direct"])
    func `a registration and an approval with each algorithm hold`(
        algorithm: SignatureAlgorithm, attestation: String
    ) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled(
            ["algorithms": [.integer(Int64(algorithm.rawValue))], "attestation": .string(attestation)],
            algorithm: algorithm)
        let purchase = try await issuer.purchase()
        let reply = await issuer.decide(
            try purchase.request.jti, try authenticator.approval(of: purchase.request), by: authenticator)
        #expect(reply.outcome == "200")
        #expect(try await issuer.timeline(purchase).status == "authenticated")
    }

    @Test(arguments: SignatureAlgorithm.allCases, ["none", "direct"])
    func `a key of an algorithm that was not offered is refused`(
        algorithm: SignatureAlgorithm, attestation: String
    ) async throws {
        let issuer = try TestIssuer()
        let others = SignatureAlgorithm.allCases.filter { $0 != algorithm }.map {
            JSONValue.integer(Int64($0.rawValue))
        }
        let ceremony = try await issuer.options(
            ["algorithms": .array(others), "attestation": .string(attestation)])
        let body = try SoftwareAuthenticator(site: issuer.site, algorithm: algorithm)
            .enrollment(ceremony, packed: attestation != "none")
        #expect(await issuer.call("POST", "/v1/enrollments", body: body).outcome == "422 invalid_registration")
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `an approval by another key of the same algorithm is refused`(algorithm: SignatureAlgorithm) async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled(algorithm: algorithm)
        let purchase = try await issuer.purchase()
        let body = try authenticator.approval(of: purchase.request, wrong: .key)
        let reply = await issuer.decide(try purchase.request.jti, body, by: authenticator)
        #expect(reply.outcome == "422 invalid_assertion")
    }

    @Test(arguments: [SignatureAlgorithm.es384, .eddsa])
    func `an issuer's own key is one for ES256`(algorithm: SignatureAlgorithm) throws {
        #expect(throws: KeyError.unsupported("an issuer signs with ES256")) {
            try IssuerSigner(key: SigningKey.generate(algorithm), pushKey: SigningKey.generate(.es256))
        }
    }
}
