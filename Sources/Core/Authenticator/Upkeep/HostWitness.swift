import Journal
import Logging
import Records
import StoreTables
import Synchronization

/// Records how far the other hosts' chains of the journal go, so that one that is cut off later is noticed.
///
/// That also certifies their audit keys. A host that has nothing new to say says nothing: that another host has looked
/// is no news, so hosts that are idle do not make each other write.
struct HostWitness: Sendable {
    /// Seconds between two looks.
    static let pause: Double = 60
    /// The most entries that are looked through to tell whether they say more than that a host has looked.
    private static let few: Int64 = 64

    let store: JournaledStore
    let ports: Ports
    /// Seconds; what was recorded is recorded again before it is removed for its age.
    let retention: Int64
    let log: Logger
    private let recorded = RecordedHosts()

    init(store: JournaledStore, ports: Ports, retention: Int64, log: Logger) {
        self.store = store
        self.ports = ports
        self.retention = retention
        self.log = log
    }

    /// Works until the task is cancelled: at start, and each minute.
    func run() async throws {
        while !Task.isCancelled {
            let begun = ports.clock.steady
            do {
                try await ports.patiently { try await look() }
            } catch {
                guard !Task.isCancelled else { return }
                log.error("what other hosts have written could not be recorded", metadata: ["reason": "\(error)"])
            }
            try await ports.clock.sleep(seconds: Self.pause, since: begun)
        }
    }

    /// Records what is new; nothing if nothing is.
    func look() async throws {
        guard let own = try await store.publicKey() else { return }
        let (known, now) = (recorded.value, ports.clock.now)
        let (look, news) = try await store.read { [store, retention] reader in
            let look = try store.hosts.seen(in: reader, besides: own)
            let news = try look.seen.filter { seen in
                guard let last = known[seen.host], now.isWithin(retention / 2, of: last.at) else { return true }
                return try last.seen.isFollowed(by: seen) && Self.isNews(seen, after: last.seen.head, in: reader)
            }
            return (look, news)
        }
        tell(of: look, known)
        guard !news.isEmpty else { return }
        try await store.write { [clock = ports.clock] writer in
            let now = clock.now
            for fact in JournalFact.hostsSeen(news) { try writer.record(fact, at: now) }
        }
        recorded.add(news, at: now)
    }

    /// Whether entries have come that say more than that their host has looked.
    private static func isNews(_ seen: SeenHost, after last: JournalPoint, in reader: StoreReading) throws -> Bool {
        let count = seen.head.sequence - last.sequence
        guard count > 0 else { return false }
        guard count <= few, let chain = reader.reader(of: seen.host) else { return true }
        let rows = try chain.journal(after: last.sequence, limit: Int(count))
        return rows.count != Int(count) || rows.contains { $0.kind != .hostsSeen }
    }

    /// Says what is wrong, once; `oobctl audit verify` says it at any time.
    private func tell(of look: JournalHosts.Look, _ known: [String: RecordedHosts.Record]) {
        var faults = look.faults
        let seen = Dictionary(look.seen.map { ($0.host, $0) }) { first, _ in first }
        for (host, record) in known where !faults.contains(where: { $0.host == host }) {
            guard seen[host].map(record.seen.isFollowed) != true else { continue }
            let end = seen[host].map { "it ends with entry \($0.head.sequence)" } ?? "it is missing"
            faults.append((host, "\(end), and entry \(record.seen.head.sequence) was seen under its key"))
        }
        for (host, problem) in faults where recorded.isNewFault(of: host, problem) {
            log.error(
                "the journal of another host is not as it was signed",
                metadata: ["host": "\(host)", "reason": "\(problem)"])
        }
    }
}

/// What this process has recorded of other hosts.
private final class RecordedHosts: Sendable {
    struct Record: Sendable {
        let seen: SeenHost
        /// Seconds since 1970.
        let at: Int64
    }

    private let state = Mutex<(records: [String: Record], faults: [String: String])>(([:], [:]))

    var value: [String: Record] { state.withLock(\.records) }

    func add(_ hosts: [SeenHost], at now: Int64) {
        state.withLock { state in
            for seen in hosts { state.records[seen.host] = Record(seen: seen, at: now) }
        }
    }

    /// False for one that was told already.
    func isNewFault(of host: String, _ problem: String) -> Bool {
        state.withLock { state in
            guard state.faults[host] != problem else { return false }
            state.faults[host] = problem
            return true
        }
    }
}
