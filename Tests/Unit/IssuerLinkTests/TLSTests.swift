import IssuerProtocol
import NIOSSL
import Records
import Testing

@testable import IssuerLink

@Suite(.timeLimit(.minutes(20)))
struct TLSTests {
    @Test func `given roots are trusted`() async throws {
        let own = try await TestCertificate(host: "localhost")
        try await Link.run(tls: own.server(), roots: own.pem) { _ in
            .authenticated
        } _: { link in
            let status = try await link.decide()
            #expect(status == .authenticated)
        }
    }

    @Test func `given roots stand instead of the system's and of others'`() async throws {
        let own = try await TestCertificate(host: "localhost")
        for roots in [nil, try await TestCertificate(host: "localhost").pem] {
            try await Link.run(tls: own.server(), roots: roots) { _ in
                .authenticated
            } _: { link in
                let failure = try await mustFail { try await link.decide() }
                #expect(
                    failure.reason == "the issuer's certificate does not lead to a trusted root, or is not valid now")
            }
        }
    }

    @Test func `each route has its own roots`() async throws {
        let own = try await TestCertificate(host: "localhost")
        let other = try await TestCertificate(host: "localhost").pem
        try await Link.run(tls: own.server(), roots: own.pem) { _ in
            .authenticated
        } _: { link in
            let foreign = link.access(roots: other)
            try await link.decide()
            let failure = try await mustFail { try await link.gateway.unenroll(foreign) }
            #expect(failure.reason.contains("trusted root"))
            try await link.decide()
        }
    }

    @Test func `a certificate for another host is refused`() async throws {
        let own = try await TestCertificate(host: "other.example")
        try await Link.run(tls: own.server(), roots: own.pem) { _ in
            .authenticated
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.reason == "the issuer's certificate is not for localhost")
        }
    }

    @Test func `a certificate with the name in CN alone is refused, and nothing is sent`() async throws {
        let own = try await TestCertificate(host: "localhost", isInCommonName: true)
        try await Link.run(tls: own.server(), roots: own.pem) { request in
            Issue.record("\(request.target) was sent")
            return .authenticated
        } _: { link in
            for _ in 0..<2 {
                let failure = try await mustFail { try await link.decide() }
                #expect(
                    failure.reason
                        == "the issuer's certificate has no subjectAltName: put localhost there, as a name in CN alone does not count"
                )
            }
            // The connections are closed, and not kept beside the next ones.
            for _ in 0..<2 { for await case .closed in link.server.events { break } }
        }
    }

    @Test func `a certificate that is past is refused`() async throws {
        let own = try await TestCertificate(host: "localhost", isPast: true)
        try await Link.run(tls: own.server(), roots: own.pem) { _ in
            .authenticated
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.reason.contains("not valid now"))
        }
    }

    @Test func `a server that speaks TLS 1·1 at most is refused, and one with 1·2 is not`() async throws {
        let own = try await TestCertificate(host: "localhost")
        try await Link.run(tls: own.server(.tlsv11), roots: own.pem) { _ in
            .authenticated
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.reason == "the issuer speaks neither TLS 1.2 nor TLS 1.3")
        }
        try await Link.run(tls: own.server(.tlsv12), roots: own.pem) { _ in
            .authenticated
        } _: { link in
            let status = try await link.decide()
            #expect(status == .authenticated)
        }
    }

    @Test func `a set of roots that nobody uses makes room, one in use does not`() async throws {
        var limits = TransportLimits.patient
        limits.sets = 1
        let (one, other) = (
            try await TestCertificate(host: "localhost"), try await TestCertificate(host: "localhost").pem
        )
        try await Link.run(limits: limits, tls: one.server(), roots: one.pem) { request in
            request.method == "GET" ? .silence : .authenticated
        } _: { link in
            let foreign = link.access(roots: other)
            try await link.decide()
            let evicting = try await mustFail { try await link.gateway.unenroll(foreign) }
            #expect(evicting.reason.contains("trusted root"))
            try await link.decide()
            async let held = mustFail {
                try await link.gateway.fetch(link.access, wait: 60, after: nil)
            }
            for await case .received(let request) in link.server.events where request.method == "GET" { break }
            let full = try await mustFail { try await link.gateway.unenroll(foreign) }
            #expect(full.reason == "more than 1 different sets of root certificates are in use")
            try await link.decide()
            await link.gateway.shutdown()
            _ = try await held
        }
    }

    @Test func `of several sets that nobody uses the one that was used least lately makes room`() async throws {
        var limits = TransportLimits.patient
        limits.sets = 2
        let cache = ClientCache(limits: limits)
        func client(_ port: Int) async throws -> ObjectIdentifier {
            let needs = ClientNeeds(roots: nil, proxy: try HTTPProxy("http://127.0.0.1:\(port)"), identity: nil)
            return try await cache.withPair(for: needs) { ObjectIdentifier($0.client(for: .calls)) }
        }
        let first = try await client(1)
        _ = try await client(2)
        #expect(try await client(1) == first)
        _ = try await client(3)
        #expect(try await client(1) == first)
        await cache.shutdown()
    }

    @Test func `good roots pass, with text around them`() async throws {
        let pem = try await TestCertificate(host: "localhost").pem
        _ = try TrustedRoots.configuration(pem: "# Bank of Zürich\n\(pem)\n# another\n\(pem)\nend")
    }

    @Test func `roots pass with the byte order marks that editors put before them`() async throws {
        let pem = try await TestCertificate(host: "localhost").pem
        for text in ["\u{FEFF}\(pem)", "\u{FEFF}\(pem)\n\u{FEFF}\(pem)"] {
            let roots = try TrustedRoots.configuration(pem: text).trustRoots
            guard case .certificates(let certificates)? = roots else {
                Issue.record("\(text): no roots")
                continue
            }
            #expect(certificates.count == (text == "\u{FEFF}\(pem)" ? 1 : 2))
        }
    }

    @Test func `roots that cannot be used are refused with a sentence, before and at use`() async throws {
        let own = try await TestCertificate(host: "localhost")
        let block = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let cases = [
            ("", "there is no root certificate"), ("hello", "there is no root certificate"),
            (block, "cannot be read"), (own.pem + block, "cannot be read"), (own.pem + own.key, "private key"),
            ("-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n", "hold no certificate"),
            (own.pem + String(repeating: " ", count: 1_048_576), "more than 1 MiB"),
        ]
        for (pem, sentence) in cases {
            try await Link.run(tls: own.server(), roots: pem) { _ in
                .authenticated
            } _: { link in
                let failure = try await mustFail { try await link.decide() }
                let problem = link.gateway.problem(withRoots: pem)
                #expect(problem?.contains(sentence) == true)
                #expect(failure.reason == problem)
            }
        }
    }
}
