import Journal
import Logging
import Records
import StoreTables

/// Holds all rows that have a seal against what the hosts' heads say of them: at start, and once an hour.
///
/// A row that somebody put back, or took away, is found by whichever host looks next, also if none ran meanwhile; then
/// nothing is approved until a person has looked. Before the first look nothing is approved either.
struct RowWatch: Sendable {
    /// Seconds until a look that failed is made again.
    static let shortPause: Double = 10
    /// The most of this host's newest entries in which the first look sees how far other hosts' chains went, and how many
    /// of them are in memory.
    private static let (entries, page): (Int64, Int) = (10_000, 1_000)

    let store: JournaledStore
    let ports: Ports
    let log: Logger
    /// Where each chain ended at the last look, or before it as this host has recorded it.
    private let ends = Kept<[String: Int64]>()

    init(store: JournaledStore, ports: Ports, log: Logger) {
        self.store = store
        self.ports = ports
        self.log = log
    }

    /// Works until the task is cancelled.
    func run() async throws {
        // A start that has looked itself has no need of a second look.
        if !ports.headStanding.areRowsDue { try await ports.clock.sleep(seconds: try Self.pause(ports.entropy)) }
        while !Task.isCancelled {
            let begun = ports.clock.steady
            var pause = try Self.pause(ports.entropy)
            do {
                try await look()
            } catch {
                guard !Task.isCancelled else { return }
                pause = Self.shortPause
                // A trouble of the store is told by whoever watches that.
                if !(error is StoreError) {
                    log.error("the rows could not be held against the journal", metadata: ["reason": "\(error)"])
                }
            }
            try await ports.clock.sleep(seconds: pause, since: begun)
        }
    }

    /// Draws the seconds between two looks, an hour at most: hosts that began together do not look together for long.
    static func pause(_ entropy: any Entropy) throws -> Double { 3_000 + 600 * (try entropy.fraction()) }

    /// Reads all rows, and has ``HeadStanding`` say whether they are in doubt.
    ///
    /// - Returns: the rows as they were found; nil if the journal vouches for nothing.
    @discardableResult
    func look() async throws -> RowSurvey? {
        // A journal that is not this agent's vouches for nothing, and nothing more is decided on it.
        if let trouble = ports.storeHealth.trouble, trouble.isForGood {
            ports.headStanding.setRows(nil)
            return nil
        }
        let isFirst = ends.value == nil
        let recorded = Kept<[String: Int64]>()
        let found = try await store.surveyRows { if isFirst { recorded.value = try Self.recordedEnds(in: $0) } }
        note(problem(of: found, recorded.value ?? [:]).map { .rowsChanged($0) })
        return found
    }

    private func note(_ doubt: HeadStanding.Doubt?) {
        if let doubt, ports.headStanding.rowDoubt == nil {
            log.error("the database is in doubt", metadata: ["kind": "\(doubt.cause)", "reason": "\(doubt.sentence)"])
        }
        ports.headStanding.setRows(doubt)
    }

    /// A chain that has become shorter brings older sums with it, and older rows may agree with those.
    private func problem(of found: RowSurvey, _ recorded: [String: Int64]) -> String? {
        let before = (ends.value ?? [:]).merging(recorded) { max($0, $1) }
        ends.value = before.merging(found.heads) { max($0, $1) }
        if let problem = found.problem { return problem }
        let names = before.keys.sorted()
        guard let host = names.first(where: { before[$0] ?? 0 > found.heads[$0] ?? 0 }) else { return nil }
        let name = host.isEmpty ? "" : " of host \(host)"
        return "the journal\(name) ends with entry \(found.heads[host] ?? 0), and had \(before[host] ?? 0)"
    }

    /// The ends of other hosts' chains that this host's newest entries have recorded.
    private static func recordedEnds(in store: StoreReading) throws -> [String: Int64] {
        guard store.journalHost != nil, let head = try store.journalMark(.head)?.point.sequence else { return [:] }
        var (ends, place): ([String: Int64], Int64) = ([:], max(head - entries, 0))
        while place < head {
            let rows = try store.journal(after: place, limit: page)
            guard let last = rows.last else { break }
            for entry in rows.compactMap(JournalEntry.init) {
                // Before a move it speaks of the chains of another database; and what a person has accepted is accepted.
                if entry.kind == .moved || entry.kind == .headAccepted { ends = [:] }
                for seen in entry.hostsSeen ?? [] { ends[seen.host] = max(ends[seen.host] ?? 0, seen.head.sequence) }
            }
            place = last.sequence
        }
        return ends
    }
}
