import HTTPServing
import IssuerProtocol
import Keys
import Logging
import PushReceiver
import RawHTTP
import StandingClocks
import Testing
import TextAndTime

@testable import Authenticator

/// The real push port of an agent that has one enrollment, whose receiver is the published one of RFC 8291 appendix A.
struct PushPort: Sendable {
    static let token = String(repeating: "A", count: 43)

    let http: RawHTTP
    /// The port's connections at this moment.
    let figures: @Sendable () -> PortFigures

    /// The receiver's key; it is published, and nobody's secret.
    static func receiver() throws -> PushReceiverKey {
        let parts = ["q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94", "BTBZMqHH6r4Tts7J_aSIgg"]
        return try PushReceiverKey(secret: Secret(parts.flatMap { Base64URL.decode($0) ?? [] }))
    }

    /// Serves while `body` runs.
    ///
    /// - Parameters:
    ///   - vapidKey: the issuer's; `nil`: a service in front has looked at the VAPID.
    ///   - now: the agent's clock, which stands.
    ///   - patience: in seconds.
    static func run(
        endpoint: String = "http://localhost:8300/push/\(token)", vapidKey: [UInt8]? = nil, now: Int64 = 1_697_522_198,
        rates: PushRates = PushRates(), connections: Int = PushBounds.standard.connections, patience: Int = 86_400,
        _ body: (PushPort) async throws -> Void
    ) async throws {
        let settings = try PushSettings(url: "http://localhost:8300", isVAPIDUpstream: vapidKey == nil, rates: rates)
        let issuer = try IssuerURL("http://localhost:8080")
        try await LocalAgent.run(at: issuer, clock: StandingClock(now: now), push: settings) { local in
            let enrollment = try #require(try await local.addEnrollments([SampleMember(1)]).first)
            let unused = try SigningKey.generate(.es256).publicKey.material.p256Point ?? []
            try await local.addSubscription(
                of: enrollment, key: receiver(), endpoint: PushEndpoint(endpoint), vapidKey: vapidKey ?? unused)
            var bounds = PushBounds.standard
            (bounds.connections, bounds.patience) = (connections, patience)
            let reception = try #require(local.agent.pushReception)
            let server = PushServer(
                reception: reception,
                address: try #require(ListenAddress("127.0.0.1:0", hosts: .addresses)),
                identity: nil, bounds: bounds, log: Logger(label: "push") { _ in SwiftLogNoOpLogHandler() })
            let (addresses, listening) = AsyncStream.makeStream(of: String.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.serve { listening.yield($0) } }
                defer { group.cancelAll() }
                for await address in addresses {
                    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
                    return try await body(PushPort(http: RawHTTP(port: port)) { reception.connections.figures })
                }
            }
        }
    }

    /// Waits until the port has so many connections; if it never has, the time limit of the suite ends it.
    func untilOpen(_ count: Int) async throws {
        while figures().open != count { try await Task.sleep(for: .milliseconds(5)) }
    }
}
