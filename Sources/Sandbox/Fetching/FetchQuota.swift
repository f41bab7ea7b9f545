import Synchronization

/// Sends away an authenticator that fetches far more often than it has any reason to.
///
/// Only idle fetches count: those that were answered at once although nothing had come. A long poll from a cursor
/// never is one, so an agent in order stays far below the limit whatever it is sent.
final class FetchQuota: Sendable {
    /// Idle fetches that one authenticator has within any ``window``.
    static let limit = 300
    /// Seconds.
    static let window: Int64 = 10

    private struct State {
        var recent: [String: Recent] = [:]
        var refused: [String: Int64] = [:]
    }

    /// The idle fetches of one authenticator within the last window, by the second.
    private struct Recent {
        private var seconds: [(second: Int64, count: Int)] = []

        mutating func count(at now: Int64) {
            if seconds.last?.second == now {
                seconds[seconds.count - 1].count += 1
            } else {
                seconds.append((now, 1))
            }
        }

        /// Seconds until another is admitted; 0 if one is now.
        mutating func wait(at now: Int64) -> Int64 {
            // Also what is ahead, if the clock was set back.
            seconds.removeAll { !(now - window + 1...now).contains($0.second) }
            var total = seconds.reduce(0) { $0 + $1.count }
            var wait: Int64 = 0
            for (second, count) in seconds where total >= limit {
                total -= count
                wait = second + window - now
            }
            return wait
        }
    }

    private let state = Mutex(State())

    /// Throws 429 if the authenticator has used up its quota; `now` is in seconds since 1970.
    func admit(_ authenticatorId: String, now: Int64) throws(SandboxError) {
        let wait = state.withLock { state in
            let wait = state.recent[authenticatorId, default: Recent()].wait(at: now)
            if wait > 0 { state.refused[authenticatorId, default: 0] += 1 }
            return wait
        }
        guard wait > 0 else { return }
        throw SandboxError(
            status: 429, code: nil,
            detail:
                "more than \(Self.limit) fetches in \(Self.window) s that had nothing new to bring: use after and wait",
            retryAfter: wait)
    }

    func countIdle(_ authenticatorId: String, now: Int64) {
        state.withLock { $0.recent[authenticatorId, default: Recent()].count(at: now) }
    }

    /// How many fetches of the authenticator were sent away since the sandbox started.
    func refused(_ authenticatorId: String) -> Int64 {
        state.withLock { $0.refused[authenticatorId, default: 0] }
    }
}
