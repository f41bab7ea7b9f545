import IssuerProtocol
import Records

/// One enrollment as it is fetched: all that is kept in memory for it.
struct FetchMember: Sendable {
    let id: EnrollmentID
    let authenticatorId: TokenID
    let token: AccessToken
    /// Where the next fetch goes on; never on disk: after a start, all that is listed comes again.
    private(set) var cursor: String?
    /// Left out until then; seconds since 1970.
    private(set) var pausedUntil: Int64
    private var backoff = Backoff(first: 1, limit: 300)
    /// Whether the issuer does not know the token.
    private(set) var isSuspended: Bool

    /// - Parameter suspendedUntil: if it is suspended, when it is looked at again; seconds since 1970.
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

    /// All that came is in the store, held or dropped.
    mutating func goOn(from next: String) {
        cursor = next
        backoff.reset()
    }

    /// The issuer no longer knows the cursor.
    mutating func startAnew() { cursor = nil }

    /// Leaves it out for a while: what was fetched could not be kept, or there was a problem with this one.
    mutating func pause(now: Int64, retryAfter: Int64?, entropy: any Entropy) throws {
        let pause = try backoff.next(retryAfter: retryAfter, entropy: entropy)
        pausedUntil = now + Int64(pause.rounded(.up))
    }
}
