import FairSharing
import Synchronization

/// Sends away an authenticator that fetches far more often than it has any reason to.
///
/// Only idle fetches count: those that were answered at once although nothing had come. A long poll from a cursor
/// never is one, so an agent in order stays far below the limit whatever it is sent.
final class FetchQuota: Sendable {
    /// Idle fetches that one authenticator has at once.
    static let limit = 300
    /// So many more a second.
    static let perSecond = 10
    /// Authenticators that have fetches of their own; all others share theirs.
    private static let maxKeys = 100_000

    private struct State {
        var rates = RateLimit<String>(burst: limit, every: .seconds(1) / perSecond, maxKeys: maxKeys)
        var refused: [String: Int64] = [:]
    }

    private let state = Mutex(State())

    /// Counts a fetch; one that turns out not to be idle is given back.
    ///
    /// Throws 429 if the authenticator has used up its quota; `now` is in seconds since 1970.
    func admit(_ authenticatorId: String, now: Int64) throws(SandboxError) {
        let wait = state.withLock { state in
            let wait = state.rates.take(authenticatorId, now: .seconds(now))
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

    /// How many fetches of the authenticator were sent away since the sandbox started.
    func refused(_ authenticatorId: String) -> Int64 {
        state.withLock { $0.refused[authenticatorId, default: 0] }
    }
}
