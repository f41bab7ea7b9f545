import IssuerProtocol
import Sandbox
import StrictJSON
import Testing

@testable import Conformance

/// The issuer of a case: the sandbox, with what the case has otherwise.
struct ScriptedSandboxTests {
    private let issuer: ScriptedSandbox

    init() throws { issuer = try ScriptedSandbox(port: 8_080, secrets: KnownSecrets()) }

    @Test func `an approver reaches the protocol's calls, and none of the sandbox's own`() async throws {
        for path in ["/sandbox/enrollment-codes", "/sandbox/purchases", "/sandbox/authenticators", "/sandbox/"] {
            #expect(await issuer.answer(to: Call("POST", path)).status == 404)
            #expect(await issuer.answer(to: Call("GET", path)).status == 404)
        }
        let document = await issuer.answer(to: Call("GET", Discovery.path))
        #expect(document.status == 200)
        let members = try JSONReader.object(document.body, limits: JSONLimits(maxBytes: 10_000))
        #expect(members["issuer"] == "http://localhost:8080")
        #expect(members["batchFetchEndpoint"] == nil && members["vapidPublicKey"] == nil)
        #expect(await issuer.answer(to: Call("GET", ProtocolRoutes.authnRequests)).status == 401)
    }

    @Test func `a code makes one ceremony, whose answer a script can take the place of`() async throws {
        issuer.set { $0.scripts[.options] = [ScriptedAnswer(status: 502), ScriptedAnswer(code: .ceremonyExpired)] }
        let code = try await issuer.invite { _, variables in variables["CODE"] ?? "" }
        let body = JSONValue.object(["enrollmentCode": .string(code)]).serialized()
        let call = Call("POST", ProtocolRoutes.enrollmentOptions, body: body)
        #expect(await issuer.answer(to: call).status == 502)
        #expect(await issuer.answer(to: call).status == ProblemCode.ceremonyExpired.status)
        #expect(await issuer.answer(to: call).status == 200)
        #expect(issuer.calls.map(\.endpoint) == [.options, .options, .options])
        #expect(issuer.calls.map { $0.answer?.status } == [nil, nil, 200])
    }

    @Test func `calls are kept up to their bound, and answered beyond it`() async throws {
        let body = [UInt8](repeating: UInt8(ascii: " "), count: ApproverCall.maxBytes / 4)
        for _ in 0..<6 {
            let answer = await issuer.answer(to: Call("POST", ProtocolRoutes.enrollments, body: body))
            #expect(answer.status == 400)
        }
        #expect(issuer.calls.count == 4)
    }
}
