/// A push that was taken: decrypted, and by its VAPID the issuer's where that was looked at.
package struct PushMessage: Sendable, Equatable {
    package let headers: PushHeaders
    package let body: PushBody
}

/// What a push carries; it is trusted for no more than this.
package enum PushBody: Sendable, Equatable {
    /// A JWS in compact serialization, not verified: it goes the way of one that was fetched.
    case message(String)
    /// Anything else, nothing included: a reason to fetch.
    case hint

    /// What has the shape of a JWS with a header is one, also where `AuthnRequestReader` will find it out of order.
    package init(_ plain: [UInt8]) {
        let text = String(decoding: plain, as: UTF8.self)
        do throws(NotAuthentic) {
            _ = try CompactJWS.parse(text)
            self = .message(text)
        } catch {
            self = error == .notJWS ? .hint : .message(text)
        }
    }
}
