package import IssuerProtocol

/// A push subscription as stored; while one replaces another, an enrollment has both.
package struct KeptSubscription: Sendable, Equatable {
    package let enrollmentId: EnrollmentID
    /// SHA-256 of the endpoint's token; unique.
    package let tokenDigest: [UInt8]
    package let endpoint: PushEndpoint
    /// The private key and the auth secret, sealed under the agent's secret.
    package var sealedKey: [UInt8]
    /// The issuer's VAPID key when the subscription was made: a point of 65 bytes.
    package let vapidKey: [UInt8]
    /// Whether, as far as the agent knows, the issuer has the subscription.
    package var isRegistered: Bool

    package init(
        enrollmentId: EnrollmentID, tokenDigest: [UInt8], endpoint: PushEndpoint, sealedKey: [UInt8],
        vapidKey: [UInt8], isRegistered: Bool
    ) {
        self.enrollmentId = enrollmentId
        self.tokenDigest = tokenDigest
        self.endpoint = endpoint
        self.sealedKey = sealedKey
        self.vapidKey = vapidKey
        self.isRegistered = isRegistered
    }
}
