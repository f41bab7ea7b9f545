import IssuerProtocol
import NIOSSL
import Records
import Testing

@testable import IssuerLink

@Suite(.timeLimit(.minutes(20)))
struct ClientIdentityTests {
    private static let asksForOne = "the issuer asks for a client certificate: set client-cert and client-key"

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `an issuer that asks for a client certificate is shown the agent's`(_ version: TLSVersion) async throws {
        let authority = try await TestAuthority()
        let network = OutboundNetwork(identity: try await authority.issue("agent").identity)
        let tls = try await authority.issue("localhost").server(version, clients: authority)
        try await Link.run(tls: tls, roots: authority.pem, network: network) { _ in
            .authenticated
        } _: { link in
            let status = try await link.decide()
            #expect(status == .authenticated)
        }
    }

    @Test(arguments: [
        (TLSVersion.tlsv13, asksForOne),
        (.tlsv12, "the issuer broke off the TLS handshake: it may ask for a client certificate"),
    ])
    func `without one the failure says so`(_ version: TLSVersion, _ sentence: String) async throws {
        let authority = try await TestAuthority()
        let tls = try await authority.issue("localhost").server(version, clients: authority)
        try await Link.run(tls: tls, roots: authority.pem) { _ in
            .authenticated
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.reason == sentence)
        }
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `one of another authority is refused by the issuer`(_ version: TLSVersion) async throws {
        let authority = try await TestAuthority()
        let network = OutboundNetwork(identity: try await TestAuthority().issue("agent").identity)
        let tls = try await authority.issue("localhost").server(version, clients: authority)
        try await Link.run(tls: tls, roots: authority.pem, network: network) { _ in
            .authenticated
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.reason == "the issuer refused the client certificate")
        }
    }

    @Test func `another one is shown from the next call on, and what is under way goes on`() async throws {
        let authority = try await TestAuthority()
        let good = OutboundNetwork(identity: try await authority.issue("agent").identity)
        let bad = OutboundNetwork(identity: try await TestAuthority().issue("agent").identity)
        let tls = try await authority.issue("localhost").server(clients: authority)
        try await Link.run(tls: tls, roots: authority.pem, network: good) { request in
            request.method == "GET" ? .silence : .authenticated
        } _: { link in
            try await link.decide()
            try await withThrowingTaskGroup(of: IssuerError.self) { group in
                group.addTask { try await mustFail { try await link.gateway.fetch(link.access, wait: 60, after: nil) } }
                for await case .received(let request) in link.server.events where request.method == "GET" { break }
                link.gateway.use(bad)
                // Not on the connection that stands still, either.
                let refused = try await mustFail { try await link.decide() }
                #expect(refused.reason == "the issuer refused the client certificate")
                link.gateway.use(good)
                try await link.decide()
                group.cancelAll()
                let failure = try await group.next()
                #expect(failure?.reason == "the call was cancelled")
            }
        }
    }

    @Test func `files that are read again without having changed are the same identity`() async throws {
        let authority = try await TestAuthority()
        let (one, other) = (try await authority.issue("agent"), try await authority.issue("agent"))
        #expect(try one.identity == one.identity)
        #expect(try one.identity.hashValue == one.identity.hashValue)
        #expect(try one.identity != other.identity)
    }

    @Test func `an issuer that asks for none is not shown any`() async throws {
        let authority = try await TestAuthority()
        let network = OutboundNetwork(identity: try await TestAuthority().issue("agent").identity)
        try await Link.run(tls: await authority.issue("localhost").server(), roots: authority.pem, network: network) {
            _ in
            .authenticated
        } _: { link in
            try await link.decide()
        }
    }

    @Test func `a certificate and a key that cannot be used are refused with the part and a sentence`() async throws {
        let authority = try await TestAuthority()
        let (one, other) = (try await authority.issue("agent"), try await authority.issue("agent"))
        let cases: [(certificate: String, key: String, ClientIdentity.Refusal.Part, String)] = [
            ("", one.key, .certificate, "no certificate in PEM"), (one.key, one.key, .certificate, "no certificate"),
            (one.certificate.replacing("\nM", with: "\nA"), one.key, .certificate, "cannot be read"),
            (one.certificate, "", .key, "no private key in PEM"),
            (one.certificate, one.certificate, .key, "no private key"),
            (one.certificate, other.key, .key, "is not the private key of the client certificate"),
        ]
        for (certificate, key, part, sentence) in cases {
            let refusal = #expect(throws: ClientIdentity.Refusal.self) {
                try ClientIdentity(certificate: Array(certificate.utf8), key: Array(key.utf8))
            }
            #expect(refusal?.part == part)
            #expect(refusal?.description.contains(sentence) == true)
        }
    }
}
