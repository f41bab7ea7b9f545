import IssuerProtocol
import Testing

@testable import IssuerLink
@testable import Records

@Suite(.timeLimit(.minutes(20)))
struct ProxyTests {
    /// A call to `https://issuer.example`, a name that only the proxy knows.
    private func decide(roots: String?, through proxy: String) async throws -> Result<TransStatus, IssuerError> {
        let network = OutboundNetwork(proxy: try HTTPProxy(proxy))
        let gateway = HTTPIssuerGateway.patient(network)
        let target = IssuerTarget(issuer: try IssuerURL("https://issuer.example"), rootsPEM: roots)
        let access = IssuerAccess(
            target: target, discovery: Link.discovery(target.issuer), token: try #require(AccessToken(Link.token)))
        let jti = try #require(TokenID("b1c6"))
        let result: Result<TransStatus, IssuerError>
        do throws(IssuerError) {
            result = .success(try await gateway.decide(access, jti: jti, body: [], traceparent: nil))
        } catch {
            result = .failure(error)
        }
        await gateway.shutdown()
        return result
    }

    private func reason(_ result: Result<TransStatus, IssuerError>) -> String? {
        if case .failure(let failure) = result { failure.reason } else { nil }
    }

    @Test func `an issuer is reached through the proxy, which is told its name and port and no more`() async throws {
        let authority = try await TestAuthority()
        let tls = try await authority.issue("issuer.example").server()
        try await ScriptedServer.run(tls: tls) { _ in
            .authenticated
        } _: { server in
            try await ConnectProxy.run(to: server.port) { proxy in
                let result = try await decide(roots: authority.pem, through: "http://127.0.0.1:\(proxy.port)")
                #expect(try result.get() == .authenticated)
                #expect(proxy.requests == ["CONNECT issuer.example:443 HTTP/1.1"])
            }
        }
    }

    @Test func `the issuer's certificate is judged as without a proxy`() async throws {
        let authority = try await TestAuthority()
        for (name, roots, sentence) in [
            ("other.example", authority.pem, "the issuer's certificate is not for issuer.example"),
            (
                "issuer.example", try await TestAuthority().pem,
                "the issuer's certificate does not lead to a trusted root, or is not valid now"
            ),
        ] {
            try await ScriptedServer.run(tls: await authority.issue(name).server()) { _ in
                .authenticated
            } _: { server in
                try await ConnectProxy.run(to: server.port) { proxy in
                    let result = try await decide(roots: roots, through: "http://127.0.0.1:\(proxy.port)")
                    #expect(reason(result) == sentence)
                }
            }
        }
    }

    @Test(arguments: [
        (Reply.answer(407), "asks for a user and password, which are not supported"),
        (.answer(403), "does not let connections to issuer.example through"),
        (.answer(302, headers: ["Location: http://elsewhere.example"]), "does not let connections"),
        (Reply("HTTP/1.1 502 No\r\n\r\nHTTP/1.1 502 No\r\n\r\n", then: .close), "does not let connections"),
    ])
    func `a proxy that does not let the agent through is named`(_ reply: Reply, _ sentence: String) async throws {
        try await ScriptedServer.run { _ in
            reply
        } _: { server in
            let result = try await decide(roots: nil, through: "http://127.0.0.1:\(server.port)")
            #expect(reason(result)?.hasPrefix("the proxy 127.0.0.1:\(server.port) \(sentence)") == true)
        }
    }

    @Test(arguments: [
        "", "garbage\r\n\r\n", "HTTP/1.1 100 Go on\r\n\r\n", "HTTP/1.1 200 Go\r\n\r\n", "HTTP/1.1 200 Go\r\n\r\nno TLS",
        "SSH-2.0-OpenSSH_9.2\r\n",
    ])
    func `what is no proxy makes a call fail, and nothing else`(_ bytes: String) async throws {
        try await ScriptedServer.run { _ in
            Reply(bytes, then: .close)
        } _: { server in
            let result = try await decide(roots: nil, through: "http://127.0.0.1:\(server.port)")
            #expect(reason(result) != nil)
        }
    }

    @Test func `a proxy that is not there is named`() async throws {
        let port = try ClosedPort()
        let result = try await decide(roots: nil, through: "http://127.0.0.1:\(port.number)")
        #expect(reason(result) == "the proxy 127.0.0.1:\(port.number) refused the connection")
        let unknown = try await decide(roots: nil, through: "http://proxy.invalid:3128")
        #expect(reason(unknown) == "the host name of the proxy proxy.invalid:3128 was not found")
    }

    @Test func `an issuer on loopback is never reached through the proxy`() async throws {
        let authority = try await TestAuthority()
        let network = OutboundNetwork(proxy: try HTTPProxy("http://127.0.0.1:9"))
        for tls in [nil, try await authority.issue("localhost").server()] {
            try await Link.run(tls: tls, roots: tls == nil ? nil : authority.pem, network: network) { _ in
                .authenticated
            } _: { link in
                let status = try await link.decide()
                #expect(status == .authenticated)
            }
        }
    }

    @Test(arguments: [
        ("http://proxy.example:3128", "proxy.example:3128"), ("http://127.0.0.1:1", "127.0.0.1:1"),
        ("http://[2001:db8::1]:65535", "[2001:db8::1]:65535"), ("http://Proxy-1:80", "Proxy-1:80"),
        ("HTTP://proxy.example:1", "proxy.example:1"),
    ])
    func `a proxy's address is a host and a port`(_ text: String, _ address: String) throws {
        #expect(try HTTPProxy(text).description == address)
    }

    @Test(arguments: [
        "", "proxy.example:3128", "https://proxy.example:3128", "socks5://proxy.example:1080",
        "http://proxy.example", "http://proxy.example:", "http://:3128", "http://proxy.example:0",
        "http://proxy.example:65536", "http://proxy.example:+1", "http://proxy.example:3128/", "http://a b:1",
        "http://proxy.example:3128?x", "http://2001:db8::1:80", "http://[]:80", "http://[::1:80", "http://é:80",
        "http://user:secret@proxy.example:3128",
    ])
    func `anything else is no proxy's address, and is not quoted`(_ text: String) {
        let refusal = #expect(throws: HTTPProxy.Refusal.self) { try HTTPProxy(text) }
        #expect(refusal?.description.hasPrefix("must be http://HOST:PORT") == true)
        #expect(refusal?.description.contains("secret") == false)
    }
}
