package import Keys

/// One push subscription as its receiver has it.
package struct PushInbox: Sendable {
    /// The most bytes of a push's body; of a longer one no more needs to be read.
    package static let maxBytes = PushReceiverKey.maxBytes

    package let endpoint: PushEndpoint
    private let key: PushReceiverKey
    private let vapid: VAPIDRule

    package init(endpoint: PushEndpoint, key: PushReceiverKey, vapid: VAPIDRule) {
        self.endpoint = endpoint
        self.key = key
        self.vapid = vapid
    }

    /// Reads what was posted to the endpoint, and throws the answer if it is not taken.
    ///
    /// The rules are looked at in this order: length, VAPID, header fields, encryption. `now` is in seconds since 1970. A push
    /// without a message (no body, no coding) is a hint: RFC 8030 asks for none, and libraries send one for "no payload".
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
            try key.check(values.first, for: endpoint, now: now)
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

/// A push that was taken: decrypted, and by its VAPID the issuer's if that was checked.
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

    /// Takes text in the shape of a JWS for a message, even if `AuthnRequestReader` will refuse it.
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
