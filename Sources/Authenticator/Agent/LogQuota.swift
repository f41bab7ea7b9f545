import Synchronization

/// One log line per peer, topic and pause; what was left out is counted.
final class LogQuota: Sendable {
    private struct Topic {
        var spokenAt: Int64
        var leftOut: Int
    }

    /// The most peers that are remembered; past it the memory starts anew.
    private static let maxPeers = 20_000
    /// The most topics of one peer; all others are one.
    ///
    /// The agent's own topics are fewer.
    private static let maxTopics = 32
    private static let otherTopics = "other"
    /// Seconds.
    private let pause: Int64
    private let peers = Mutex<[String: [String: Topic]]>([:])

    init(pause: Int64) { self.pause = pause }

    /// The number of lines left out since the last one, if one may be written now; nil if not.
    func admit(_ peer: String, about topic: String = "", now: Int64) -> Int? {
        peers.withLock { peers in
            let known = peers[peer]
            let topic = known?[topic] != nil || (known?.count ?? 0) < Self.maxTopics ? topic : Self.otherTopics
            if let last = known?[topic], now.isWithin(pause, of: last.spokenAt) {
                peers[peer]?[topic]?.leftOut += 1
                return nil
            }
            if known == nil, peers.count >= Self.maxPeers { peers.removeAll() }
            peers[peer, default: [:]][topic] = Topic(spokenAt: now, leftOut: 0)
            return known?[topic]?.leftOut ?? 0
        }
    }
}
