package import Keys

/// A push subscription on the receiver's side.
package struct PushInbox: Sendable {
    /// The maximum size of a push's body, in bytes.
    ///
    /// A receiver can stop reading a longer body.
    package static let maxBytes = PushReceiverKey.maxBytes

    package let endpoint: PushEndpoint
    private let key: PushReceiverKey
    private let vapid: VAPIDRule

    package init(endpoint: PushEndpoint, key: PushReceiverKey, vapid: VAPIDRule) {
        self.endpoint = endpoint
        self.key = key
        self.vapid = vapid
    }

    /// Reads a push that was posted to the endpoint.
    ///
    /// If the push is refused, throws the answer.
    ///
    /// The rules are checked in this order: length, VAPID, header fields, encryption. `now` is in seconds since 1970. A
    /// push without a message (no body, no coding) is a hint: RFC 8030 requires no message, and libraries send none for
    /// "no payload".
    package func read(_ fields: PushFields, body: [UInt8], now: Int64) throws(PushAnswer) -> PushMessage {
        guard body.count <= Self.maxBytes else { throw .tooLarge }
        try checkVAPID(fields["authorization"], now: now)
        let isBare = body.isEmpty && fields["content-encoding"].isEmpty
        let headers = try PushHeaders(fields, isBare: isBare)
        return PushMessage(headers: headers, body: isBare ? .hint : PushBody(try decrypt(body)))
    }

    private func checkVAPID(_ values: [String], now: Int64) throws(PushAnswer) {
        guard case .required(let key) = vapid else { return }
        guard values.count <= 1 else { throw PushAnswer(VAPIDRefusal.vapidMalformed) }
        do throws(VAPIDRefusal) {
            try key.verify(values.first, for: endpoint, now: now)
        } catch {
            throw PushAnswer(error)
        }
    }

    private func decrypt(_ body: [UInt8]) throws(PushAnswer) -> [UInt8] {
        do throws(PushRefusal) {
            return try key.decrypt(body)
        } catch {
            throw PushAnswer(error)
        }
    }
}

/// A decrypted push that passed the rules.
///
/// If its VAPID was checked, it is from the issuer.
package struct PushMessage: Sendable, Equatable {
    package let headers: PushHeaders
    package let body: PushBody
}

/// The content of a push.
///
/// A receiver must not trust it any further than its case says.
package enum PushBody: Sendable, Equatable {
    /// A JWS in compact serialization, not verified.
    ///
    /// It is processed like a fetched message.
    case message(String)
    /// Anything else, or an empty push: a reason to fetch.
    case hint

    /// Reads text with the shape of a JWS as a message, even if `AuthnRequestReader` will refuse it.
    package init(_ plain: [UInt8]) {
        let text = String(decoding: plain, as: UTF8.self)
        do throws(AuthenticityError) {
            _ = try CompactJWS.parse(text)
            self = .message(text)
        } catch {
            self = error == .notJWS ? .hint : .message(text)
        }
    }
}
