import IssuerProtocol
import Keys
import NIOSSL
import StandingClocks
import StrictJSON
import Synchronization
import Testing

@testable import IssuerLink
@testable import Records

extension TransportLimits {
    /// No connection takes too long, however slow the machine is.
    static var patient: TransportLimits {
        var limits = TransportLimits.standard
        limits.connectSeconds = 86_400
        return limits
    }
}

extension HTTPIssuerGateway {
    /// A gateway that waits for as long as a test does.
    static func patient(_ network: OutboundNetwork = OutboundNetwork()) -> HTTPIssuerGateway {
        HTTPIssuerGateway(version: "1", network: network, clock: StandingClock(), bounds: .standard, limits: .patient)
    }
}

/// Waits are over when the test says so.
final class HeldClock: AgentClock {
    let now: Int64 = 1_697_522_198
    private let asked = Mutex<[Double]>([])
    private let gate = AsyncStream<Void>.makeStream()

    var waits: [Double] { asked.withLock { $0 } }

    func sleep(seconds: Double) async throws {
        asked.withLock { $0.append(seconds) }
        for await _ in gate.stream { return }
        throw CancellationError()
    }

    func letGo() { gate.continuation.yield() }
}

/// An issuer on a scripted server, and a gateway to it.
struct Link: Sendable {
    static let token = "token-that-nobody-may-see.0123456789"

    let gateway: HTTPIssuerGateway
    let server: ScriptedServer
    let target: IssuerTarget
    let access: IssuerAccess

    var discovery: Discovery { access.discovery }

    /// Runs `body` with a gateway to a server that says what `script` says.
    static func run(
        clock: any AgentClock = StandingClock(), bounds: AnswerBounds = .standard,
        limits: TransportLimits = .patient, tls: NIOSSLContext? = nil,
        roots: String? = nil, network: OutboundNetwork = OutboundNetwork(), _ script: @escaping ScriptedServer.Script,
        _ body: (Link) async throws -> Void
    ) async throws {
        try await ScriptedServer.run(tls: tls, script) { server in
            let origin = tls == nil ? "http://127.0.0.1:\(server.port)" : "https://localhost:\(server.port)"
            let gateway = HTTPIssuerGateway(
                version: "1.2.3", network: network, clock: clock, bounds: bounds, limits: limits)
            let target = IssuerTarget(issuer: try IssuerURL(origin), rootsPEM: roots)
            let token = try #require(AccessToken(Self.token))
            let access = IssuerAccess(target: target, discovery: Self.discovery(target.issuer), token: token)
            let result: Result<Void, any Error>
            do {
                result = .success(
                    try await body(Link(gateway: gateway, server: server, target: target, access: access)))
            } catch {
                result = .failure(error)
            }
            await gateway.shutdown()
            try result.get()
        }
    }

    static func discovery(_ issuer: IssuerURL) -> Discovery {
        Discovery(
            issuer: issuer, jwksUri: "\(issuer.text)/jwks.json?v=2",
            enrollmentOptionsEndpoint: "\(issuer.text)/v1/options",
            enrollmentsEndpoint: "\(issuer.text)/v1/enrollments",
            authnRequestsEndpoint: "\(issuer.text)/v1/authn-requests",
            authenticatorEndpoint: "\(issuer.text)/v1/authenticator")
    }

    /// Any authenticated call.
    @discardableResult
    func decide(traceparent: String? = nil) async throws(IssuerError) -> TransStatus {
        guard let jti = TokenID("b1c6_-9") else { throw .transient(reason: "no jti", retryAfter: nil) }
        return try await gateway.decide(
            access, jti: jti, body: Array(#"{"decision":"deny"}"#.utf8), traceparent: traceparent)
    }

    /// The same issuer and token with other roots.
    func access(roots: String) -> IssuerAccess {
        let target = IssuerTarget(issuer: target.issuer, rootsPEM: roots)
        return IssuerAccess(target: target, discovery: discovery, token: access.token)
    }

    /// The first request that the server gets.
    func firstRequest() async throws -> ReceivedRequest {
        for await case .received(let request) in server.events { return request }
        throw CancellationError()
    }

    func waitForClose() async {
        for await case .closed in server.events { return }
    }
}

/// The failure of a call that must fail.
func mustFail(_ call: () async throws -> some Any) async throws -> IssuerError {
    do {
        _ = try await call()
    } catch let error as IssuerError {
        #expect(!error.reason.contains(Link.token))
        return error
    }
    Issue.record("the call succeeded")
    throw CancellationError()
}

extension IssuerError {
    var code: ProblemCode? { if case .problem(let problem) = self { problem.code } else { nil } }
    var isTransient: Bool { if case .transient = self { true } else { false } }
    var retryAfter: Int64? { if case .transient(_, let seconds) = self { seconds } else { nil } }
}

extension Reply {
    static let authenticated = Reply.answer(200, text: #"{"transStatus":"Y"}"#)
    static let emptyList = Reply.answer(200, text: #"{"requests":[],"cursor":"c1"}"#)

    static func problem(_ status: Int, _ code: String, type: String = "application/problem+json") -> Reply {
        .answer(status, text: #"{"title":"T","code":"\#(code)"}"#, type: type)
    }
}
