import Synchronization

/// One log line per peer and pause; what was left out is counted.
final class LogQuota: Sendable {
    private struct Peer {
        var spokenAt: Int64
        var leftOut: Int
    }

    /// The most peers that are remembered; past it the memory starts anew.
    private static let mostPeers = 20_000
    /// Seconds.
    private let pause: Int64
    private let peers = Mutex<[String: Peer]>([:])

    init(pause: Int64) { self.pause = pause }

    /// The number of lines left out since the last one, where one may be written now; nil where not.
    func admit(_ peer: String, now: Int64) -> Int? {
        peers.withLock { peers in
            if let known = peers[peer], now.isWithin(pause, of: known.spokenAt) {
                peers[peer]?.leftOut += 1
                return nil
            }
            if peers.count >= Self.mostPeers { peers.removeAll() }
            let leftOut = peers[peer]?.leftOut ?? 0
            peers[peer] = Peer(spokenAt: now, leftOut: 0)
            return leftOut
        }
    }
}
