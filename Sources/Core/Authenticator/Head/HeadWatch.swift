import Journal
import Keys
import Logging
import Records
import StoreTables

/// Notes this host's head outside the database, and holds the database against it at start.
///
/// An older database that is put in the place of the newest is whole in itself: only what lies elsewhere can tell. The
/// note is never written while the database is not known to go on from it, so what it says survives restarts.
struct HeadWatch: Sendable {
    /// Seconds from the first commit after a note until the next note.
    static let pause: Double = 10
    /// Seconds until a note that failed is tried again.
    static let longPause: Double = 60

    /// The most entries behind the noted one that a start reads, so many at a time: more than a few seconds' worth.
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
        // Other hosts that wrote nothing since have nothing to notice it by.
        if standing.isRestored { try await ports.patiently { try await doubtSignCounts() } }
        var changes = hub.notifier(for: { $0.kind != nil || $0.isJournalFound }).makeAsyncIterator()
        while true {
            // A commit from before it listened is owed as well.
            if !isOwed { guard await changes.next() != nil else { return } }
            try await ports.patience.sleep(seconds: Self.pause)
            while await !note() { try await ports.patience.sleep(seconds: Self.longPause) }
        }
    }

    private var isOwed: Bool { standing.doubt == nil && store.head.map { $0 != noted.value } == true }

    /// Notes the head as of this agent's last commit, unless the database is in doubt.
    ///
    /// - Returns: false if that failed, which is logged.
    @discardableResult
    func note() async -> Bool { await trying { try await write() } }

    /// Notes the head, or has health and log say why not.
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

    /// Lets no host sign for any enrollment before its issuer has said which signCount it accepted.
    ///
    /// Nobody knows which numbers were used since. What was cut off is begun anew.
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
