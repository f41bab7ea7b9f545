import Keys
import StrictJSON

/// The answer that refuses a push.
///
/// It has a status, a problem (RFC 9457), and the header fields that belong to them.
package struct PushAnswer: Error, Sendable, Equatable {
    /// The `code` of the problem.
    package enum Code: String, Sendable, CaseIterable {
        /// The header fields or the ciphertext are invalid.
        case invalidPush = "invalid_push"
        case vapidRequired = "vapid_required"
        case invalidVAPID = "invalid_vapid"
        case unknownEndpoint = "unknown_endpoint"
        case tooLarge = "too_large"
        case tooMany = "too_many"
        /// The cause is on this machine.
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

    /// The seconds after which a sender may repeat a push that this machine could not check.
    private static let retryWhenUnavailable: Int64 = 10

    package let code: Code
    /// The reason, as a stable word for counters and logs.
    package let reason: String
    /// The reason, as one line without any text from the sender.
    package let detail: String
    /// The value of `Retry-After`, in seconds.
    package let retryAfter: Int64?

    private init(_ code: Code, reason: String, detail: String, retryAfter: Int64? = nil) {
        self.code = code
        self.reason = reason
        self.detail = detail
        self.retryAfter = retryAfter
    }

    package var status: Int { code.status }

    /// The header fields in addition to those of every answer.
    package var fields: [(name: String, value: String)] {
        var fields = [(name: "Content-Type", value: Problem.contentType)]
        // RFC 9110 §15.5.2 requires a challenge. This scheme's challenge has no parameters (RFC 8292 §3).
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

    /// For a body that is too long, read completely or not.
    package static let tooLarge = PushAnswer(PushRefusal.tooLarge)

    /// For a body that ends before its length, or before its last chunk.
    package static let cutShort = PushAnswer(
        .invalidPush, reason: "cutShort", detail: "the body ends before the header fields say")

    /// For pushes that exceed a limit.
    ///
    /// `retryAfter` is in seconds.
    package static func tooMany(retryAfter: Int64) -> PushAnswer {
        PushAnswer(.tooMany, reason: "tooMany", detail: "more pushes came than are taken", retryAfter: retryAfter)
    }

    /// For a push that this machine cannot accept now, although it may be valid.
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
