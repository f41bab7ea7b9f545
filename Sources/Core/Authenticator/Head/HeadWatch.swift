import Journal
import Keys
import Logging
import Records
import StoreTables

/// Keeps the head note: saves this host's head outside the database, and compares the two at start.
///
/// An older database in the place of the newest is consistent in itself. Only data outside the database can show the
/// difference. The note is written only while the database is known to continue from it, so a restart finds the same
/// difference again.
struct HeadWatch: Sendable {
    /// The seconds from the first commit after a note until the next note.
    static let pause: Double = 10
    /// The seconds until a failed write of the note is tried again.
    static let longPause: Double = 60

    /// The most entries after the noted entry that a start reads, ``page`` at a time.
    ///
    /// They are more than a few seconds' worth.
    var followed: Int64 = 100_000
    static let page = 1_000
    /// The most rows of enrollments that one database transaction marks.
    private static let batch = 10_000

    let store: JournaledStore
    let ports: Ports
    let hub: EventHub
    let log: Logger
    private let noted = Kept<JournalPoint>()

    init(store: JournaledStore, ports: Ports, hub: EventHub, log: Logger) {
        self.store = store
        self.ports = ports
        self.hub = hub
        self.log = log
    }

    var standing: HeadStanding { ports.headStanding }

    /// Works until the task is cancelled.
    func run() async throws {
        guard ports.headKeeper != nil else { return }
        // Another host that has written no entry since the older database was made cannot find out by its own head.
        if standing.isRestored { try await ports.patiently { try await doubtSignCounts() } }
        var changes = hub.notifier(for: { $0.kind != nil || $0.isJournalFound }).makeAsyncIterator()
        while true {
            // A commit from before the notifier existed needs a note too.
            if !isOwed { guard await changes.next() != nil else { return } }
            try await ports.patience.sleep(seconds: Self.pause)
            while await !save() { try await ports.patience.sleep(seconds: Self.longPause) }
        }
    }

    private var isOwed: Bool { standing.doubt == nil && store.head.map { $0 != noted.value } == true }

    /// Saves the head of this agent's last commit, unless the database is in doubt.
    ///
    /// - Returns: false if that failed, which is logged.
    @discardableResult
    func save() async -> Bool { await trying { try await write() } }

    /// Runs a write of the note, and reports a failure in health and log.
    func trying(_ write: () async throws -> Void) async -> Bool {
        do {
            try await write()
            standing.setNotKept(nil)
            return true
        } catch {
            if standing.notKept == nil { log.warning("the head could not be noted", metadata: ["reason": "\(error)"]) }
            standing.setNotKept("\(error)")
            return false
        }
    }

    func write() async throws {
        guard let keeper = ports.headKeeper, isOwed, let mark = store.headMark, let key = try await store.publicKey()
        else { return }
        try await keeper.write(.head(mark, key: SHA256Digest.of(key.subjectPublicKeyInfo)))
        noted.value = mark.point
    }

    /// Blocks signatures for each enrollment until its issuer has said which signCount it accepted.
    ///
    /// The block holds on all hosts. The signCounts that were used since are unknown. An interrupted run starts from
    /// the beginning.
    func doubtSignCounts() async throws {
        var place: Int64?
        repeat {
            let start = place
            place = try await store.write { try $0.doubtSignCounts(after: start, limit: Self.batch) }
        } while place != nil
    }
}

extension AgentEvent {
    fileprivate var isJournalFound: Bool { if case .found(.journal) = self { true } else { false } }
}
