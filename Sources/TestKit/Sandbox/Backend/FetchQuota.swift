import FairSharing
import Synchronization

/// The limit of an authenticator's idle fetches.
///
/// A fetch is idle if it is answered at once although there was no news. A long poll from a cursor is never idle, so a
/// correct agent stays far below the limit, no matter how many requests it gets.
final class FetchQuota: Sendable {
    /// The burst of idle fetches that one authenticator may make.
    static let limit = 300
    /// The rate of further idle fetches, per second.
    static let perSecond = 10
    /// The limit of authenticators with a quota of their own; all others share one.
    private static let maxKeys = 100_000

    private struct State {
        var rates = RateLimit<String>(burst: limit, every: .seconds(1) / perSecond, maxKeys: maxKeys)
        var refused: [String: Int64] = [:]
    }

    private let state = Mutex(State())

    /// Counts a fetch; the caller gives it back if it turns out not to be idle.
    ///
    /// Throws 429 if the authenticator has used up its quota. `now` is in seconds since 1970.
    func admit(_ authenticatorId: String, now: Int64) throws(SandboxError) {
        let wait = state.withLock { state in
            let wait = state.rates.spend(authenticatorId, now: .seconds(now))
            if wait != nil { state.refused[authenticatorId, default: 0] += 1 }
            return wait
        }
        guard let wait else { return }
        throw SandboxError(
            status: 429, code: nil,
            detail: "more than \(Self.limit) fetches at once, or \(Self.perSecond) a second, that had nothing new to "
                + "bring: use after and wait",
            retryAfter: Int64(wait))
    }

    func giveBack(_ authenticatorId: String) { state.withLock { $0.rates.giveBack(authenticatorId) } }

    /// Returns the number of the authenticator's fetches that were refused since the sandbox started.
    func refused(_ authenticatorId: String) -> Int64 {
        state.withLock { $0.refused[authenticatorId, default: 0] }
    }
}
