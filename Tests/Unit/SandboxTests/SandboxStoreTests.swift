import FoundationEssentials
import IssuerProtocol
import Sandbox
import ScratchDirectories
import StrictJSON
import Testing
import TextAndTime

@Suite struct SandboxStoreTests {
    private func withDatabase(_ body: (String) async throws -> Void) async throws {
        let directory = try ScratchDirectory()
        defer { withExtendedLifetime(directory) {} }
        try await body(directory("issuer.sqlite"))
    }

    @Test func `a file keeps authenticators, purchases, cursors and the signing key`() async throws {
        try await withDatabase { path in
            let first = try TestIssuer(database: path)
            let authenticator = try await first.enrolled()
            let purchase = try await first.purchase()
            let cursor = try await first.listed(authenticator).cursor
            let keys = await first.call("GET", "/jwks.json").bytes

            let second = try TestIssuer(database: path)
            #expect(await second.call("GET", "/jwks.json").bytes == keys)
            let later = await second.call(
                "GET", "/v1/authn-requests", query: ["after": cursor], token: authenticator.token)
            #expect(try later.decoded(RequestList.init(bytes:)).requests.isEmpty)
            let body = try authenticator.approval(of: purchase.request)
            #expect(await second.decide(try purchase.request.jti, body, by: authenticator).outcome == "200")
            #expect(try await second.timeline(purchase).status == "authenticated")
        }
    }

    @Test func `the key files and their secret are the owner's alone`() async throws {
        try await withDatabase { path in
            _ = try TestIssuer(database: path)
            for suffix in [".issuer-key", ".issuer-secret", ".vapid-key"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: path + suffix)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
        }
    }

    @Test func `a file keeps the VAPID key as well, which is another than the signing key`() async throws {
        try await withDatabase { path in
            var points: [[UInt8]] = []
            for _ in 0..<2 {
                let issuer = try TestIssuer(database: path)
                let reply = await issuer.call("GET", Discovery.path)
                let discovery = try Discovery(json: reply.bytes, expected: issuer.site.issuer)
                let point = try #require(discovery.vapidPublicKey)
                let keys = await issuer.call("GET", "/jwks.json").description
                #expect(!keys.contains(Base64URL.encode(Array(point[1..<33]))))
                points.append(point)
            }
            #expect(points[0] == points[1])
        }
    }

    @Test func `a file keeps what waits to be pushed, and what was under way`() async throws {
        try await withDatabase { path in
            try await LocalPushReceiver.run { receiver in
                let first = try TestIssuer(database: path)
                _ = try await first.subscribed(at: receiver)
                let purchase = try await first.purchase()
                let second = try TestIssuer(database: path)
                try await second.push()
                let jws = try purchase.request.jws
                #expect(try await receiver.bodies(from: second) == [.message(jws)])
            }
        }
    }

    @Test func `a subscription beyond loopback from before is not pushed to by one that may not`() async throws {
        try await withDatabase { path in
            try await LocalPushReceiver.run { receiver in
                let first = try TestIssuer(database: path, pushPolicy: .anywhere)
                let authenticator = try await first.enrolled()
                var subscription = try receiver.subscription
                subscription["endpoint"] = "https://push.example/x"
                #expect(await first.subscribe(authenticator, subscription).status == 204)
                let purchase = try await first.purchase()
                let second = try TestIssuer(database: path)
                try await second.push()
                #expect(try await second.timeline(purchase).request.pushOutcomes == ["failed 1 notAllowed"])
            }
        }
    }

    @Test func `in memory another issuer's cursor is unknown`() async throws {
        let first = try TestIssuer()
        let cursor = try await first.listed(try await first.enrolled()).cursor
        let second = try TestIssuer()
        let authenticator = try await second.enrolled()
        let reply = await second.call(
            "GET", "/v1/authn-requests", query: ["after": cursor], token: authenticator.token)
        #expect(reply.outcome == "410 unknown_cursor")
    }

    @Test func `a file that is no database is refused in words`() async throws {
        try await withDatabase { path in
            try Data("no database, but some text that is long enough".utf8).write(to: URL(filePath: path))
            #expect {
                _ = try TestIssuer(database: path)
            } throws: { error in
                "\(error)".contains(path)
            }
        }
    }
}
