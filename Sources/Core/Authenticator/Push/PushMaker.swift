import IssuerProtocol
import Keys
import Records

/// Maker of push subscriptions.
///
/// Key, auth secret and endpoint are new each time.
struct PushMaker: Sendable {
    let ports: Ports
    let settings: PushSettings?

    /// Returns the VAPID key of the enrollment's issuer.
    ///
    /// `nil` if the enrollment accepts no pushes.
    func vapidKey(for enrollment: Enrollment, _ discovery: Discovery) -> [UInt8]? {
        settings?.hasAddress == true && enrollment.takesPush ? discovery.vapidPublicKey : nil
    }

    /// - Returns: the subscription for the store and the one for the issuer. `nil` if the enrollment accepts no pushes.
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

    /// Returns whether a subscription has the address and VAPID key that a new one would have.
    func fits(_ kept: KeptSubscription, vapidKey: [UInt8]) -> Bool {
        settings?.begins(kept.endpoint) == true && kept.vapidKey == vapidKey
    }
}
