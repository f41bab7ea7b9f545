import IssuerProtocol
import Keys

/// A push as it is posted: encrypted (RFC 8291) and with the issuer's VAPID (RFC 8292).
struct PushLetter: Sendable {
    /// Seconds for which the issuer's VAPID holds; RFC 8292 §2 allows twice as many.
    private static let vapidLifetime: Int64 = 43_200

    let endpoint: PushEndpoint
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    /// `ttl` is in seconds, `now` in seconds since 1970.
    init(_ plain: [UInt8], to subscription: PushSubscription, ttl: Int64, signer: IssuerSigner, now: Int64) throws {
        endpoint = subscription.endpoint
        body = try subscription.recipient.encrypt(plain)
        fields = [
            (name: "Authorization", value: try signer.vapid(for: endpoint, exp: now + Self.vapidLifetime)),
            (name: "Content-Encoding", value: "aes128gcm"), (name: "Content-Type", value: "application/octet-stream"),
            (name: "TTL", value: String(ttl)), (name: "Urgency", value: "high"),
        ]
    }
}
