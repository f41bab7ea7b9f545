import IssuerProtocol
import Keys
import StoreTables

@testable import Authenticator
@testable import Records

/// The issuer's side of push: its VAPID key, and what it makes with it.
struct SamplePush: Sendable {
    static let url = "https://push.agent.example"

    let key: SigningKey
    let vapid: VAPIDKey

    init() throws {
        key = try SigningKey.generate(.es256)
        guard let point = key.publicKey.material.p256Point else { throw SampleError("no point") }
        vapid = try VAPIDKey(point: point)
    }

    static func settings(
        _ url: String = SamplePush.url, ofEndpoint: Int64 = 600, inAll: Int64 = 60_000, upstream: Bool = false
    ) throws -> AgentSettings {
        var rates = PushRates()
        rates.ofEndpoint = ofEndpoint
        rates.inAll = inAll
        return AgentSettings(
            version: "1.2.3",
            push: try PushSettings(url: url, isVAPIDUpstream: upstream, pollInterval: 60, rates: rates))
    }

    /// The header fields of a push that is in order.
    func fields(for endpoint: PushEndpoint, now: Int64) throws -> PushFields {
        let input = VAPIDKey.signingInput(for: endpoint, exp: now + 600)
        let authorization = vapid.authorization(
            signingInput: input, signature: try key.rawSignature(over: input))
        return PushFields([("Content-Encoding", "aes128gcm"), ("TTL", "60"), ("Authorization", authorization)])
    }
}

extension PushSubscription {
    /// What the receiver looks up.
    var path: String { String(endpoint.text.dropFirst(endpoint.origin.utf8.count)) }
}

extension SampleAgent {
    /// What the issuer was told last.
    func subscription() async throws -> PushSubscription {
        guard let last = await issuer.subscriptions.last else { throw SampleError("no subscription") }
        return last
    }

    /// Lets the issuer have a subscription for an enrollment.
    func subscribed(_ push: SamplePush) async throws -> (SampleEnrollment, PushSubscription) {
        await issuer.setVAPIDKey(push.vapid.point)
        let card = try await enrolled()
        try await running([agent.pushSubscriber.run]) {
            try await settled(card.id)
        }
        return (card, try await subscription())
    }

    /// Waits until the issuer has the subscription that it is to have.
    func settled(_ id: EnrollmentID) async throws {
        try await eventually { store in
            let all = try store.subscriptions(of: id)
            return all.count == 1 && all[0].isRegistered ? true : nil
        }
    }

    func push(_ bytes: [UInt8], to subscription: PushSubscription, by push: SamplePush) async throws -> String {
        guard let reception = agent.pushReception else { throw SampleError("no pushes") }
        let body = try subscription.recipient.encrypt(bytes)
        let target = try await reception.target(subscription.path)
        return try await reception.receive(
            try push.fields(for: subscription.endpoint, now: now), body: body, at: target)
    }
}
