import Keys
import StrictJSON

/// The answer to a push that is refused.
///
/// A status, a problem (RFC 9457), and the header fields that belong to them.
package struct PushAnswer: Error, Sendable, Equatable {
    /// What is sent as the problem's `code`.
    package enum Code: String, Sendable, CaseIterable {
        /// The header fields or the ciphertext are not in order.
        case invalidPush = "invalid_push"
        case vapidRequired = "vapid_required"
        case invalidVAPID = "invalid_vapid"
        case unknownEndpoint = "unknown_endpoint"
        case tooLarge = "too_large"
        case tooMany = "too_many"
        /// This machine's fault.
        case unavailable

        package var status: Int {
            switch self {
            case .invalidPush: 400
            case .vapidRequired: 401
            case .invalidVAPID: 403
            case .unknownEndpoint: 404
            case .tooLarge: 413
            case .tooMany: 429
            case .unavailable: 503
            }
        }
    }

    /// Seconds after which a push may come again that this machine could not check.
    private static let retryWhenUnavailable: Int64 = 10

    package let code: Code
    /// Why, in a stable word for counters and logs.
    package let reason: String
    /// Why, in a line; nothing of it is the sender's.
    package let detail: String
    /// Seconds.
    package let retryAfter: Int64?

    private init(_ code: Code, reason: String, detail: String, retryAfter: Int64? = nil) {
        self.code = code
        self.reason = reason
        self.detail = detail
        self.retryAfter = retryAfter
    }

    package var status: Int { code.status }

    /// The header fields beside those of every answer.
    package var fields: [(name: String, value: String)] {
        var fields = [(name: "Content-Type", value: Problem.contentType)]
        // RFC 9110 §15.5.2 asks for a challenge; this scheme's has no parameters (RFC 8292 §3).
        if code == .vapidRequired { fields.append((name: "WWW-Authenticate", value: "vapid")) }
        if let retryAfter { fields.append((name: "Retry-After", value: String(retryAfter))) }
        return fields
    }

    package var body: [UInt8] {
        let problem: JSONObject = [
            "type": "about:blank", "status": .integer(Int64(status)), "detail": .string(detail),
            "code": .string(code.rawValue),
        ]
        return problem.serialized()
    }
}

extension PushAnswer {
    package static let unknownEndpoint = PushAnswer(
        .unknownEndpoint, reason: "unknownEndpoint", detail: "there is no push subscription here")

    /// For a body that is not read to its end, or was found to be too long.
    package static let tooLarge = PushAnswer(PushRefusal.tooLarge)

    /// For a body that ends before its length, or before its last chunk.
    package static let cutShort = PushAnswer(
        .invalidPush, reason: "cutShort", detail: "the body ends before the header fields say")

    /// `retryAfter` in seconds.
    package static func tooMany(retryAfter: Int64) -> PushAnswer {
        PushAnswer(.tooMany, reason: "tooMany", detail: "more pushes came than are taken", retryAfter: retryAfter)
    }

    /// For what this machine cannot take in now, though it may be in order.
    package static let unavailable = PushAnswer(
        .unavailable, reason: "unavailable", detail: "the push cannot be taken in now", retryAfter: retryWhenUnavailable
    )

    static func invalid(_ reason: String, _ detail: String) -> PushAnswer {
        PushAnswer(.invalidPush, reason: reason, detail: detail)
    }

    init(_ refusal: VAPIDRefusal) {
        let (code, retryAfter): (Code, Int64?) =
            switch refusal {
            case .vapidMissing: (.vapidRequired, nil)
            case .vapidCannotTell: (.unavailable, Self.retryWhenUnavailable)
            default: (.invalidVAPID, nil)
            }
        self.init(code, reason: refusal.rawValue, detail: refusal.detail, retryAfter: retryAfter)
    }

    init(_ refusal: PushRefusal) {
        switch refusal {
        case .tooLarge: self.init(.tooLarge, reason: refusal.token, detail: refusal.description)
        case .openSSL:
            self.init(
                .unavailable, reason: refusal.token, detail: "the push cannot be decrypted now",
                retryAfter: Self.retryWhenUnavailable)
        default: self.init(.invalidPush, reason: refusal.token, detail: refusal.description)
        }
    }
}
