import IssuerProtocol

/// What came of one try to push.
enum PushOutcome: Sendable, Equatable {
    /// Why nothing was sent; the raw values are the timeline's.
    enum Obstacle: String, Sendable {
        case expired, noSubscription, notAllowed, noSubjectAltName, cannotEncrypt
    }

    case delivered(status: Int)
    /// The receiver does not know the subscription any more (RFC 8030 §5, §7.3).
    case gone(status: Int)
    /// The same push again would be answered the same.
    case refused(status: Int)
    /// Worth another try; `status` is nil if no answer came, `retryAfter` is in seconds.
    case later(status: Int?, retryAfter: Int64?)
    case notSent(Obstacle)

    /// What an answer means; `retryAfter` is the field of that name, whose date counts from `now`, seconds since 1970.
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

/// When a push is tried again.
enum PushPatience {
    /// Tries of one push in all.
    static let maxTries: Int64 = 8

    /// Seconds from a failed try to the next: what the receiver asked for, or 1, 2, 4, …; nil after the last.
    static func seconds(afterTry tries: Int64, retryAfter: Int64?) -> Int64? {
        guard tries < maxTries else { return nil }
        return retryAfter.map { max($0, 1) } ?? 1 << max(tries - 1, 0)
    }
}
