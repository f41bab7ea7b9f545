import IssuerProtocol
import Records
import Testing

@testable import IssuerLink

@Suite(.timeLimit(.minutes(20)))
struct AnswerTests {
    @Test(arguments: ProblemCode.allCases)
    func `a problem with a known code is one`(_ code: ProblemCode) async throws {
        try await Link.run { _ in
            .problem(code.status, code.rawValue)
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.code == code)
        }
    }

    @Test func `a problem's content type may have parameters and capitals`() async throws {
        let script: ScriptedServer.Script = { _ in
            .problem(410, "expired", type: "Application/Problem+JSON; charset=utf-8")
        }
        try await Link.run(script) { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.code == .expired)
        }
    }

    @Test(arguments: [500, 503, 599]) func `a problem with a known code is one on a server's error too`(
        status: Int
    ) async throws {
        try await Link.run { _ in
            .problem(status, "already_decided")
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.code == .alreadyDecided)
        }
    }

    private static let others: [Reply] = [
        .problem(410, "unheard_of"),
        .problem(410, "expired", type: "application/json"),
        .problem(200, "expired"),
        .problem(201, "expired"),
        .problem(302, "expired"),
        .answer(401, text: "<html>log in</html>", type: "text/html"),
        .answer(404, text: #"{"code":"unknown_request","code":"unknown_request"}"#, type: "application/problem+json"),
        .answer(410, text: #"{"code":"expired""#, type: "application/problem+json"),
        .answer(410, type: nil),
        .answer(500, text: "oops", type: nil),
        .answer(200, text: #"{"transStatus":"U"}"#),
        .answer(200, text: "<html>welcome to our Wi-Fi</html>", type: "text/html"),
        .answer(200, [0xFF, 0x00]),
        .answer(200),
        .answer(201, text: #"{"transStatus":"Y"}"#),
        .answer(204, type: nil),
        .answer(206, text: #"{"transStatus":"Y"}"#),
        .answer(299, text: #"{"transStatus":"Y"}"#),
    ]

    @Test(arguments: others.indices)
    func `every other answer is transient and says nothing of its body`(_ index: Int) async throws {
        let reply = Self.others[index]
        try await Link.run { _ in
            reply
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.isTransient)
            #expect(failure.retryAfter == nil)
            #expect(!failure.reason.contains("html"))
        }
    }

    @Test func `an answer that quotes the token is not quoted`() async throws {
        let text = #"{"\#(Link.token)":1,"\#(Link.token)":2}"#
        try await Link.run { _ in
            .answer(200, text: text)
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.reason.contains("a name appears twice"))
        }
    }

    @Test(arguments: [301, 302, 303, 304, 307, 308])
    func `a redirect is not followed`(_ status: Int) async throws {
        try await Link.run { request in
            request.target == "/elsewhere" ? .emptyList : .answer(status, headers: ["Location: /elsewhere"])
        } _: { link in
            let failure = try await mustFail {
                try await link.gateway.fetch(link.access, wait: 0, after: nil)
            }
            #expect(failure.reason == "the issuer answered with a redirect (\(status)), which is not followed")
        }
    }

    @Test func `what is beside a redirect is not read, however long it goes on`() async throws {
        try await Link.run { _ in
            let body = [UInt8](repeating: UInt8(ascii: " "), count: 100)
            return Reply("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n", then: .endless(body))
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.reason == "the issuer answered with a redirect (302), which is not followed")
        }
    }

    @Test(arguments: [200, 201, 204])
    func `an enrollment needs 201, a removal 204`(_ status: Int) async throws {
        try await Link.run { _ in
            .answer(status, text: status == 204 ? "" : #"{"authenticatorId":"a","accessToken":"t"}"#)
        } _: { link in
            if status != 201 {
                let failure = try await mustFail {
                    try await link.gateway.enroll(link.target, link.discovery, body: [])
                }
                #expect(failure.isTransient)
            }
            if status != 204 {
                let failure = try await mustFail {
                    try await link.gateway.unenroll(link.access)
                }
                #expect(failure.isTransient)
            }
        }
    }

    @Test func `an issuer that speaks other versions is told which one is spoken here`() async throws {
        try await Link.run { _ in
            .answer(200, text: #"{"protocolVersions":[2,3]}"#)
        } _: { link in
            let failure = try await mustFail {
                try await link.gateway.discovery(link.target)
            }
            #expect(failure.isTransient)
            #expect(failure.reason.contains("must hold 1, the only version spoken here"))
        }
    }
}
