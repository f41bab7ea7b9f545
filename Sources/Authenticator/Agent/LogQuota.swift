import Synchronization

/// A quota of log lines: one for each peer, topic and pause, and so many of an issuer and of all.
///
/// Lines that are left out are counted, and the next one about the same says how many they were.
final class LogQuota: Sendable {
    /// The most lines within a pause.
    struct Bounds {
        /// About the enrollments of one issuer, so that an issuer with many does not push out the lines about others.
        var ofIssuer = 60
        /// In all: a sixtieth of what journald takes from a service by default, whatever the pause.
        var ofAll = 600
    }

    private struct Topic {
        /// The time of the last line; `nil` if all were left out.
        var spokenAt: Int64?
        var leftOut: Int
    }

    /// The lines since a time.
    private struct Window {
        var beganAt: Int64
        var lines = 0

        func isFull(_ limit: Int, within pause: Int64, now: Int64) -> Bool {
            now.isWithin(pause, of: beganAt) && lines >= limit
        }

        mutating func count(within pause: Int64, now: Int64) {
            if !now.isWithin(pause, of: beganAt) { self = Window(beganAt: now) }
            lines += 1
        }
    }

    private struct State {
        var peers: [String: [String: Topic]] = [:]
        /// How many topics all peers have together.
        var topics = 0
        /// Those that had a line in this window of all or in the one before: twice as many as lines at the most.
        var ofIssuers: [String: Window] = [:]
        var ofAll = Window(beganAt: 0)
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
    private let bounds: Bounds
    private let state = Mutex(State())

    init(pause: Int64, bounds: Bounds = Bounds()) {
        self.pause = pause
        self.bounds = bounds
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
            guard mayBeSaid(at: issuer, now, state) else {
                state.peers[peer, default: [:]][topic, default: Topic(leftOut: 0)].leftOut += 1
                return nil
            }
            if !now.isWithin(pause, of: state.ofAll.beganAt) {
                state.ofIssuers = state.ofIssuers.filter { now.isWithin(pause, of: $0.value.beganAt) }
            }
            state.ofAll.count(within: pause, now: now)
            if let issuer { state.ofIssuers[issuer, default: Window(beganAt: now)].count(within: pause, now: now) }
            state.peers[peer, default: [:]][topic] = Topic(spokenAt: now, leftOut: 0)
            return known?[topic]?.leftOut ?? 0
        }
    }

    /// Makes room for one more topic.
    ///
    /// The counts of lines stay, so that being forgotten brings nobody another line.
    private func remember(_ state: inout State) {
        if state.topics >= Self.maxRemembered { (state.peers, state.topics) = ([:], 0) }
        state.topics += 1
    }

    private func mayBeSaid(at issuer: String?, _ now: Int64, _ state: borrowing State) -> Bool {
        guard !state.ofAll.isFull(bounds.ofAll, within: pause, now: now) else { return false }
        guard let issuer, let window = state.ofIssuers[issuer] else { return true }
        return !window.isFull(bounds.ofIssuer, within: pause, now: now)
    }
}
