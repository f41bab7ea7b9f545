import Journal
import Logging
import Records
import StoreTables
import Synchronization

/// Background task that records the heads of other hosts' chains, so that a later truncation is noticed.
///
/// The record also certifies their audit keys. A host writes a record only for news. A record by another host is not
/// news, so idle hosts do not make each other write.
struct HostWitness: Sendable {
    /// The seconds between two checks.
    static let pause: Double = 60
    /// The most new entries that are read to find out whether one is more than a record of other hosts.
    private static let few: Int64 = 64

    let store: JournaledStore
    let ports: Ports
    /// The retention of entries, in seconds.
    ///
    /// A record is renewed before it is removed for its age.
    let retention: Int64
    let log: Logger
    private let recorded = RecordedHosts()

    init(store: JournaledStore, ports: Ports, retention: Int64, log: Logger) {
        self.store = store
        self.ports = ports
        self.retention = retention
        self.log = log
    }

    /// Checks the other hosts' chains at start and once a minute, until the task is cancelled.
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

    /// Records the heads that are news, if there are any.
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
        report(of: look, known)
        guard !news.isEmpty else { return }
        try await store.write { [clock = ports.clock] writer in
            let now = clock.now
            for fact in JournalFact.hostsSeen(news) { try writer.record(fact, at: now) }
        }
        recorded.add(news, at: now)
    }

    /// Returns whether there are new entries other than records of other hosts.
    private static func isNews(_ seen: SeenHost, after last: JournalPoint, in reader: StoreReading) throws -> Bool {
        let count = seen.head.sequence - last.sequence
        guard count > 0 else { return false }
        guard count <= few, let chain = reader.reader(of: seen.host) else { return true }
        let rows = try chain.journal(after: last.sequence, limit: Int(count))
        return rows.count != Int(count) || rows.contains { $0.kind != .hostsSeen }
    }

    /// Logs each new fault once.
    ///
    /// `oobctl audit verify` lists the faults at any time.
    private func report(of look: JournalHosts.Look, _ known: [String: RecordedHosts.Record]) {
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

/// Records of other hosts by this process, and the faults that it has logged.
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

    /// Returns false for a fault that was logged already.
    func isNewFault(of host: String, _ problem: String) -> Bool {
        state.withLock { state in
            guard state.faults[host] != problem else { return false }
            state.faults[host] = problem
            return true
        }
    }
}
