import Journal
import Logging
import Records
import StoreTables

/// Compares all sealed rows with the sums in the hosts' heads, at start and once an hour.
///
/// Any host finds a row that was put back or removed, also if no host ran at that time. Then approvals stop until a
/// person has checked the database. Before the first comparison there are no approvals either.
struct RowWatch: Sendable {
    /// The seconds until a failed comparison is tried again.
    static let shortPause: Double = 10
    /// The most of this host's newest entries that the first comparison reads, and the most in memory at a time.
    ///
    /// It reads there how far other hosts' chains went.
    private static let (entries, page): (Int64, Int) = (10_000, 1_000)

    let store: JournaledStore
    let ports: Ports
    let log: Logger
    /// The end of each chain at the last comparison, or before that as this host has recorded it.
    private let ends = Kept<[String: Int64]>()

    init(store: JournaledStore, ports: Ports, log: Logger) {
        self.store = store
        self.ports = ports
        self.log = log
    }

    /// Works until the task is cancelled.
    func run() async throws {
        // A start that has compared the rows itself needs no second comparison.
        if !ports.headStanding.areRowsDue { try await ports.clock.sleep(seconds: try Self.pause(ports.entropy)) }
        while !Task.isCancelled {
            let begun = ports.clock.steady
            var pause = try Self.pause(ports.entropy)
            do {
                try await look()
            } catch {
                guard !Task.isCancelled else { return }
                pause = Self.shortPause
                // ``StoreWatch`` logs the store's errors.
                if !(error is StoreError) {
                    log.error("the rows could not be held against the journal", metadata: ["reason": "\(error)"])
                }
            }
            try await ports.clock.sleep(seconds: pause, since: begun)
        }
    }

    /// Draws the seconds until the next comparison, an hour at most.
    ///
    /// Hosts that began together so do not compare at the same time for long.
    static func pause(_ entropy: any Entropy) throws -> Double { 3_000 + 600 * (try entropy.fraction()) }

    /// Reads all rows, and sets in ``HeadStanding`` whether they are in doubt.
    ///
    /// - Returns: the rows as they were read. `nil` if the journal cannot prove any row.
    @discardableResult
    func look() async throws -> RowSurvey? {
        // A forged journal proves no row, and no further decision is made on it.
        if let trouble = ports.storeHealth.trouble, trouble.isForGood {
            ports.headStanding.setRows(nil)
            return nil
        }
        let isFirst = ends.value == nil
        let recorded = Kept<[String: Int64]>()
        let found = try await store.surveyRows { if isFirst { recorded.value = try Self.recordedEnds(in: $0) } }
        report(problem(of: found, recorded.value ?? [:]).map { .rowsChanged($0) })
        return found
    }

    private func report(_ doubt: HeadStanding.Doubt?) {
        if let doubt, ports.headStanding.rowDoubt == nil {
            log.error("the database is in doubt", metadata: ["kind": "\(doubt.cause)", "reason": "\(doubt.sentence)"])
        }
        ports.headStanding.setRows(doubt)
    }

    /// Returns the first problem, also if a chain has become shorter.
    ///
    /// A shorter chain has older sums, and older rows may agree with those.
    private func problem(of found: RowSurvey, _ recorded: [String: Int64]) -> String? {
        let before = (ends.value ?? [:]).merging(recorded) { max($0, $1) }
        ends.value = before.merging(found.heads) { max($0, $1) }
        if let problem = found.problem { return problem }
        let names = before.keys.sorted()
        guard let host = names.first(where: { before[$0] ?? 0 > found.heads[$0] ?? 0 }) else { return nil }
        let name = host.isEmpty ? "" : " of host \(host)"
        return "the journal\(name) ends with entry \(found.heads[host] ?? 0), and had \(before[host] ?? 0)"
    }

    /// Reads the ends of other hosts' chains that this host's newest entries have recorded.
    private static func recordedEnds(in store: StoreReading) throws -> [String: Int64] {
        guard store.journalHost != nil, let head = try store.journalMark(.head)?.point.sequence else { return [:] }
        var (ends, place): ([String: Int64], Int64) = ([:], max(head - entries, 0))
        while place < head {
            let rows = try store.journal(after: place, limit: page)
            guard let last = rows.last else { break }
            for entry in rows.compactMap(JournalEntry.init) {
                // Entries before a move describe the chains of another database. Entries before an acceptance are
                // settled.
                if entry.kind == .moved || entry.kind == .headAccepted { ends = [:] }
                for seen in entry.hostsSeen ?? [] { ends[seen.host] = max(ends[seen.host] ?? 0, seen.head.sequence) }
            }
            place = last.sequence
        }
        return ends
    }
}
