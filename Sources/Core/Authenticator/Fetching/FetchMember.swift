import IssuerProtocol
import Records

/// An enrollment that is fetched for, with all that is in memory of it.
struct FetchMember: Sendable {
    let id: EnrollmentID
    let authenticatorId: TokenID
    let token: AccessToken
    /// The cursor of the next fetch.
    ///
    /// It is never on disk: after a start, the issuer lists all requests again.
    private(set) var cursor: String?
    /// The end of the pause, in seconds since 1970.
    private(set) var pausedUntil: Int64
    private var backoff = Backoff(first: 1, limit: 300)
    /// Whether this token is unknown to the issuer.
    private(set) var isSuspended: Bool

    /// - Parameter suspendedUntil: the time of the next try, in seconds since 1970. `nil` if the enrollment is not
    ///   suspended.
    init(id: EnrollmentID, authenticatorId: TokenID, token: AccessToken, suspendedUntil: Int64?) {
        self.id = id
        self.authenticatorId = authenticatorId
        self.token = token
        isSuspended = suspendedUntil != nil
        pausedUntil = suspendedUntil ?? .min
    }

    mutating func suspend(until: Int64) {
        isSuspended = true
        pausedUntil = until
    }

    mutating func resume() {
        isSuspended = false
        pausedUntil = .min
        backoff.reset()
    }

    /// Moves the cursor.
    ///
    /// Call once each message of the answer is stored, deferred or dropped.
    mutating func goOn(from next: String) {
        cursor = next
        backoff.reset()
    }

    /// Drops a cursor that the issuer no longer knows.
    mutating func startAnew() { cursor = nil }

    /// Pauses the enrollment: its messages could not be stored, or the issuer answered with a problem for it.
    mutating func pause(now: Int64, retryAfter: Int64?, entropy: any Entropy) throws {
        let pause = try backoff.next(retryAfter: retryAfter, entropy: entropy)
        pausedUntil = now + Int64(pause.rounded(.up))
    }
}
