/// Who has the connections of the control socket, and whose goes when there is no place for another.
///
/// A newcomer is taken, and another goes for it: one of the user who has most, of that user's process with most, the
/// one that has waited longest for its client. One whose call is under way goes only if all are, and then the newest.
/// So whoever opens too many pushes out nobody else's.
struct ConnectionTable {
    /// Who connected, as the kernel says.
    struct Peer: Hashable {
        let uid: UInt32
        let pid: Int32
    }

    typealias ID = Int

    private struct Entry {
        let peer: Peer
        /// Whether the agent is at work for it, else it waits for its client.
        var isWorking = false
        /// When that began: a number that grows.
        var since: Int
        /// The bytes of the last answer, which the client may not have read yet.
        var bytes = 0
    }

    /// The most connections at a time.
    let limit: Int
    /// The most bytes of answers that clients leave unread.
    let maxBytes: Int
    private var entries: [ID: Entry] = [:]
    /// What all of them leave unread.
    private var unread = 0
    private var moment = 0

    init(limit: Int, maxBytes: Int) {
        self.limit = limit
        self.maxBytes = maxBytes
    }

    var count: Int { entries.count }

    /// Takes a connection in; the other is to be closed, and may be the same one.
    mutating func enter(_ peer: Peer) -> (entered: ID, leaving: ID?) {
        let id = nextMoment()
        entries[id] = Entry(peer: peer, since: id)
        guard entries.count > limit, let leaving = nextToLeave(of: entries) else { return (id, nil) }
        leave(leaving)
        return (id, leaving)
    }

    mutating func leave(_ id: ID) { unread -= entries.removeValue(forKey: id)?.bytes ?? 0 }

    /// Marks the agent as at work for a connection: its client has said all, and has read the last answer.
    mutating func work(for id: ID) {
        set(id, isWorking: true, bytes: 0)
    }

    /// Marks a connection as waiting for its client, to say something or to read an answer of so many bytes.
    ///
    /// - Returns: connections to be closed, since too much is left unread.
    mutating func wait(for id: ID, bytes: Int = 0) -> [ID] {
        set(id, isWorking: false, bytes: bytes)
        var leaving: [ID] = []
        while unread > maxBytes, let next = nextToLeave(of: entries.filter { $0.value.bytes > 0 }) {
            leave(next)
            leaving.append(next)
        }
        return leaving
    }

    private mutating func set(_ id: ID, isWorking: Bool, bytes: Int) {
        let moment = nextMoment()
        guard let entry = entries[id] else { return }
        unread += bytes - entry.bytes
        entries[id] = Entry(peer: entry.peer, isWorking: isWorking, since: moment, bytes: bytes)
    }

    private mutating func nextMoment() -> Int {
        moment += 1
        return moment
    }

    private func nextToLeave(of candidates: [ID: Entry]) -> ID? {
        var ofUser: [UInt32: Int] = [:]
        var ofProcess: [Peer: Int] = [:]
        for entry in candidates.values {
            ofUser[entry.peer.uid, default: 0] += 1
            ofProcess[entry.peer, default: 0] += 1
        }
        func rank(_ entry: Entry) -> (Int, Int, Int, Int) {
            (
                ofUser[entry.peer.uid, default: 0], ofProcess[entry.peer, default: 0], entry.isWorking ? 0 : 1,
                entry.isWorking ? entry.since : -entry.since
            )
        }
        return candidates.max { rank($0.value) < rank($1.value) }?.key
    }
}
