import IssuerProtocol
import Keys
import Records

/// Makes push subscriptions: key, auth secret and endpoint are new each time.
struct PushMaker: Sendable {
    let ports: Ports
    let settings: PushSettings?

    /// The VAPID key of an issuer for whom an enrollment takes pushes; nil if it takes none.
    func vapidKey(for enrollment: Enrollment, _ discovery: Discovery) -> [UInt8]? {
        settings?.hasAddress == true && enrollment.takesPush ? discovery.vapidPublicKey : nil
    }

    /// - Returns: what the store keeps, and what the issuer gets; nil if the enrollment takes no pushes.
    func make(
        for enrollment: Enrollment, _ discovery: Discovery
    ) throws -> (kept: KeptSubscription, sent: PushSubscription)? {
        guard let settings, let vapidKey = vapidKey(for: enrollment, discovery) else { return nil }
        let token = try PushToken(random: ports.entropy)
        let key = try PushReceiverKey.generate()
        let endpoint = try settings.endpoint(token)
        let kept = KeptSubscription(
            enrollmentId: enrollment.id, tokenDigest: try token.digest, endpoint: endpoint,
            sealedKey: try ports.sealing.seal(key, for: enrollment.id), vapidKey: vapidKey, isRegistered: false)
        return (kept, PushSubscription(endpoint: endpoint, recipient: key.recipient))
    }

    /// Whether a subscription is as one that would be made now.
    func fits(_ kept: KeptSubscription, vapidKey: [UInt8]) -> Bool {
        settings?.begins(kept.endpoint) == true && kept.vapidKey == vapidKey
    }
}
