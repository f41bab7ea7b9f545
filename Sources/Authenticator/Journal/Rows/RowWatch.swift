import Logging

/// Holds all rows that have a seal against what the hosts' heads say of them: at start, and once an hour.
///
/// A row that somebody put back, or took away, is found by whichever host looks next, also if none ran meanwhile; then
/// nothing is approved until a person has looked. Before the first look nothing is approved either.
struct RowWatch: Sendable {
    /// Seconds between two looks.
    static let pause: Double = 3_600
    /// Seconds until a look that failed is made again.
    static let shortPause: Double = 60

    let store: JournaledStore
    let ports: Ports
    let log: Logger
    private let ends = Kept<[String: Int64]>()

    init(store: JournaledStore, ports: Ports, log: Logger) {
        self.store = store
        self.ports = ports
        self.log = log
    }

    /// Works until the task is cancelled.
    func run() async throws {
        // A start that has looked itself has no need of a second look.
        if !ports.headStanding.areRowsDue { try await ports.clock.sleep(seconds: Self.pause) }
        while !Task.isCancelled {
            let begun = ports.clock.steady
            var pause = Self.pause
            do {
                try await ports.patiently { try await look() }
            } catch {
                pause = Self.shortPause
                guard !Task.isCancelled else { return }
                log.error("the rows could not be held against the journal", metadata: ["reason": "\(error)"])
            }
            try await ports.clock.sleep(seconds: pause, since: begun)
        }
    }

    func look() async throws {
        // A journal that is not this agent's vouches for nothing, and nothing more is decided on it.
        if let trouble = ports.storeHealth.trouble, trouble.isForGood { return ports.headStanding.setRows(nil) }
        let found = try await store.survey { try $0.surveyRows() }
        let doubt = problem(of: found).map { HeadStanding.Doubt.rowsChanged($0) }
        if let doubt, ports.headStanding.rowDoubt == nil {
            log.error("the database is in doubt", metadata: ["kind": "\(doubt.cause)", "reason": "\(doubt.sentence)"])
        }
        ports.headStanding.setRows(doubt)
    }

    /// A chain that has become shorter brings older sums with it, and older rows may agree with those.
    private func problem(of found: RowSurvey) -> String? {
        if let problem = found.problem { return problem }
        let before = ends.value ?? [:]
        ends.value = found.heads
        guard let (host, end) = found.heads.first(where: { $0.value < before[$0.key] ?? 0 }) else { return nil }
        let name = host.isEmpty ? "" : " of host \(host)"
        return "the journal\(name) ends with entry \(end), and had \(before[host] ?? 0)"
    }
}
