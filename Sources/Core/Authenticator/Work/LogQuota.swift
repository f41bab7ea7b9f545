import FairSharing
import Records
import Synchronization

/// A quota of log lines: one for each peer, topic and pause, and so many of an issuer and of all.
///
/// Lines that are left out are counted, and the next one about the same says how many they were.
final class LogQuota: Sendable {
    /// The most lines at once; as many come back within a pause.
    struct Bounds {
        /// About the enrollments of one issuer, so that an issuer with many does not push out the lines about others.
        var ofIssuer = 60
        /// In all; journald takes 20,000 a minute from a service by default.
        var ofAll = 600
    }

    private struct Topic {
        /// The time of the last line; `nil` if all were left out.
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

    /// The most topics of all peers that are remembered; past it the memory starts anew.
    private static let maxRemembered = 20_000
    /// The most topics of one peer; all others are one.
    ///
    /// The agent's own topics are fewer.
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

    /// Asks for one line.
    ///
    /// - Parameter issuer: the issuer that causes it; `nil` if none does.
    /// - Returns: the number of lines left out since the last one, or `nil` if this one is to be left out too.
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
    /// The tokens stay as they are, so that being forgotten brings nobody another line.
    private func remember(_ state: inout State) {
        if state.topics >= Self.maxRemembered { (state.peers, state.topics) = ([:], 0) }
        state.topics += 1
    }

    private func takeLine(at issuer: String?, _ now: Int64, _ state: inout State) -> Bool {
        let now = Duration.seconds(now)
        guard state.ofAll.take(true, now: now) == nil else { return false }
        guard let issuer, state.ofIssuer.take(issuer, now: now) != nil else { return true }
        state.ofAll.giveBack(true)
        return false
    }
}
