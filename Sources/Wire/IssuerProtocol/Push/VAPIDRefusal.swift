/// The reason why VAPID (RFC 8292) refuses a push.
///
/// The raw values are stable.
package enum VAPIDRefusal: String, Error, Sendable, CaseIterable {
    case vapidMissing
    case vapidMalformed
    case vapidKey
    case vapidToken
    case vapidAlgorithm
    case vapidType
    case vapidCritical
    case vapidSignature
    case vapidAudience
    case vapidExpired
    case vapidTooLong
    case vapidNotYet
    /// The cryptography of this machine failed, so the token was not checked.
    case vapidCannotTell

    /// The fault and the allowed form, without any text from the sender.
    package var detail: String {
        switch self {
        case .vapidMissing: "a push needs the header Authorization: vapid t=…, k=…"
        case .vapidMalformed:
            "Authorization must be sent once, with t and k once each, in at most \(AuthorizationParameters.limit) bytes"
        case .vapidKey: "k must be the issuer's key as it was when the subscription was made"
        case .vapidToken:
            "t must be a JWT: three parts of base64url, header and claims JSON objects without a name twice"
        case .vapidAlgorithm: "the token's alg must be ES256"
        case .vapidType: "the token's typ must be JWT, or absent"
        case .vapidCritical: "the token must have no crit"
        case .vapidSignature: "the token's signature does not hold"
        case .vapidAudience: "the token's aud must be the endpoint's scheme, host and port, and nothing else"
        case .vapidExpired: "the token's exp must be an integer, and not past"
        case .vapidTooLong: "the token's exp must be at most 24 hours ahead"
        case .vapidNotYet: "the token's nbf must be an integer, and not ahead"
        case .vapidCannotTell: "the token cannot be checked now"
        }
    }
}
