import IssuerProtocol

/// The outcome of one attempt to push.
enum PushOutcome: Sendable, Equatable {
    /// The reason why a push was not sent; the raw values are the timeline's.
    enum Obstacle: String, Sendable {
        case expired, noSubscription, notAllowed, noSubjectAltName, cannotEncrypt
    }

    case delivered(status: Int)
    /// The receiver no longer knows the subscription (RFC 8030 §5, §7.3).
    case gone(status: Int)
    /// The receiver would refuse the same push again.
    case refused(status: Int)
    /// A failure that another attempt may overcome.
    ///
    /// `status` is `nil` if no answer came. `retryAfter` is in seconds.
    case later(status: Int?, retryAfter: Int64?)
    case notSent(Obstacle)

    /// Classifies an answer.
    ///
    /// `retryAfter` is the Retry-After field; a date in it is relative to `now`, in seconds since 1970.
    init(status: Int, retryAfter: String?, now: Int64) {
        self =
            switch status {
            case 200..<300: .delivered(status: status)
            case 404, 410: .gone(status: status)
            case 429, 503: .later(status: status, retryAfter: retryAfter.flatMap { RetryAfter.seconds($0, now: now) })
            case 408, 500..<600: .later(status: status, retryAfter: nil)
            default: .refused(status: status)
            }
    }

    var status: Int? {
        switch self {
        case .delivered(let status), .gone(let status), .refused(let status): status
        case .later(let status, _): status
        case .notSent: nil
        }
    }

    var obstacle: Obstacle? { if case .notSent(let obstacle) = self { obstacle } else { nil } }
}

/// The delays between attempts to push.
enum PushPatience {
    /// The limit of attempts for one push.
    static let maxTries: Int64 = 8

    /// Returns the seconds from a failed attempt to the next, or `nil` after the last.
    ///
    /// They are the receiver's Retry-After, or else 1, 2, 4, ….
    static func seconds(afterTry tries: Int64, retryAfter: Int64?) -> Int64? {
        guard tries < maxTries else { return nil }
        return retryAfter.map { max($0, 1) } ?? 1 << max(tries - 1, 0)
    }
}
