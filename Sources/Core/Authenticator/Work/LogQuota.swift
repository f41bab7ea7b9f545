import FairSharing
import Records
import Synchronization

/// Quota of log lines: one for each peer, topic and pause, and a limited number for an issuer and for all.
///
/// Omitted lines are counted, and the next line about the same topic gives their number.
final class LogQuota: Sendable {
    /// The most lines at once.
    ///
    /// The same number comes back within a pause.
    struct Bounds {
        /// The most lines about one issuer's enrollments.
        ///
        /// So an issuer with many enrollments does not suppress the lines about other issuers.
        var ofIssuer = 60
        /// The most lines in all.
        ///
        /// By default, journald accepts 20,000 a minute from a service.
        var ofAll = 600
    }

    private struct Topic {
        /// The time of the last line.
        ///
        /// `nil` if all were omitted.
        var spokenAt: Int64?
        var leftOut: Int
    }

    private struct State {
        var peers: [String: [String: Topic]] = [:]
        /// The number of topics of all peers together.
        var topics = 0
        var ofIssuer: RateLimit<String>
        var ofAll: RateLimit<Bool>
    }

    /// The most topics of all peers that are remembered.
    ///
    /// Past it, all are forgotten.
    private static let maxRemembered = 20_000
    /// The most topics of one peer.
    ///
    /// All further topics count as one. The agent has fewer topics of its own.
    private static let maxTopics = 32
    private static let otherTopics = "other"
    /// Seconds.
    private let pause: Int64
    private let state: Mutex<State>

    init(pause: Int64, bounds: Bounds = Bounds()) {
        self.pause = pause
        let pause = Duration.seconds(pause)
        state = Mutex(
            State(
                ofIssuer: RateLimit(burst: bounds.ofIssuer, every: pause / bounds.ofIssuer, maxKeys: bounds.ofAll),
                ofAll: RateLimit(burst: bounds.ofAll, every: pause / bounds.ofAll, maxKeys: 1)))
    }

    /// Requests one line.
    ///
    /// - Parameter issuer: the issuer that causes it. `nil` if none does.
    /// - Returns: the number of lines omitted since the last one. `nil` if this one must be omitted too.
    func admit(_ peer: String, at issuer: String? = nil, about topic: String = "", now: Int64) -> Int? {
        state.withLock { state in
            let known = state.peers[peer]
            let topic = known?[topic] != nil || (known?.count ?? 0) < Self.maxTopics ? topic : Self.otherTopics
            if let last = known?[topic]?.spokenAt, now.isWithin(pause, of: last) {
                state.peers[peer]?[topic]?.leftOut += 1
                return nil
            }
            if known?[topic] == nil { remember(&state) }
            guard takeLine(at: issuer, now, &state) else {
                state.peers[peer, default: [:]][topic, default: Topic(leftOut: 0)].leftOut += 1
                return nil
            }
            state.peers[peer, default: [:]][topic] = Topic(spokenAt: now, leftOut: 0)
            return known?[topic]?.leftOut ?? 0
        }
    }

    /// Makes room for one more topic.
    ///
    /// The rate limits keep their state, so a forgotten topic gains no line.
    private func remember(_ state: inout State) {
        if state.topics >= Self.maxRemembered { (state.peers, state.topics) = ([:], 0) }
        state.topics += 1
    }

    private func takeLine(at issuer: String?, _ now: Int64, _ state: inout State) -> Bool {
        let now = Duration.seconds(now)
        guard state.ofAll.spend(true, now: now) == nil else { return false }
        guard let issuer, state.ofIssuer.spend(issuer, now: now) != nil else { return true }
        state.ofAll.giveBack(true)
        return false
    }
}
