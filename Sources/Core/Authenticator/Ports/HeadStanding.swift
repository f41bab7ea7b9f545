import Journal
import Records
import Synchronization

/// Whether the database is known to be what the hosts wrote last, as the noted head says at start, and each ``RowWatch``
/// look of its rows.
package final class HeadStanding: Sendable {
    /// Why it is not known; only a person ends it.
    enum Doubt: Sendable, Equatable {
        /// No head is noted, or not a readable one, though this host has entries.
        case missing(String)
        /// The database is older than the noted head, or has another history.
        case restored(String, noted: Int64)
        /// Rows are not those that were written last.
        case rowsChanged(String)
    }

    private struct State {
        var head: Doubt?
        var rows: Doubt?
        var areRowsDue = false
    }

    /// Seconds for which a decision waits for the first look at the rows: less than a decision may take.
    private static let rowPatience: Double = 20

    private let state = Mutex(State())
    private let hub = EventHub()
    /// Why the head could not be noted at the last try.
    private let failure = Mutex<String?>(nil)

    /// The doubt that the noted head raised; nil if it raised none.
    var doubt: Doubt? { state.withLock(\.head) }

    /// The doubt that a look at the rows raised; nil if none did.
    var rowDoubt: Doubt? { state.withLock(\.rows) }

    /// All that is in doubt.
    var doubts: [Doubt] { state.withLock { [$0.head, $0.rows].compactMap(\.self) } }

    func set(_ doubt: Doubt?) { state.withLock { $0.head = doubt } }

    /// Whether the agent has started and the first look at the rows is still to come.
    var areRowsDue: Bool { state.withLock(\.areRowsDue) }

    func expectRows() { state.withLock { $0.areRowsDue = true } }

    /// After a look at the rows; what one has found, only a person ends.
    func setRows(_ doubt: Doubt?) {
        state.withLock { state in
            state.rows = state.rows ?? doubt
            state.areRowsDue = false
        }
        hub.publish(.rowsRead)
    }

    /// A person has taken the rows as they are.
    func acceptRows() { state.withLock { $0.rows = nil } }

    /// Returns once all rows have been held against the journal.
    ///
    /// - Throws: `CommandError` `.notInTime` after 20 seconds.
    func untilRowsAreRead(on patience: any AgentClock) async throws {
        guard areRowsDue else { return }
        let read: Void? = try await hub.wait(seconds: Self.rowPatience, on: patience, for: { _ in true }) {
            self.areRowsDue ? nil : ()
        }
        guard read == nil else { return }
        throw CommandError(
            .notInTime,
            "nothing was decided: the agent has started, and is still reading the database's rows; ask again")
    }

    var notKept: String? { failure.withLock(\.self) }

    func setNotKept(_ reason: String?) { failure.withLock { $0 = reason } }

    /// Throws if nothing may be approved before a person has looked.
    func expectApprovals(of request: RequestRecord? = nil) throws(CommandError) {
        guard let doubt = doubts.first(where: \.keepsFromApprovals) else { return }
        throw Self.refusal("nothing was decided", doubt, request)
    }

    /// Throws if no PIN is tried: counts and PINs are those of whenever the database was written.
    func expectPINs() throws(CommandError) {
        guard let doubt = doubts.first else { return }
        throw Self.refusal("no PIN was tried, and nothing was decided", doubt, nil)
    }

    private static func refusal(_ consequence: String, _ doubt: Doubt, _ request: RequestRecord?) -> CommandError {
        CommandError(.keyUnavailable, "\(consequence): \(doubt.sentence)", request: request)
    }

    /// Whether each issuer must say which signCount it accepted before an approval.
    var isRestored: Bool { if case .restored = doubt { true } else { false } }
}

extension HeadStanding.Doubt {
    fileprivate var keepsFromApprovals: Bool { if case .restored = self { false } else { true } }

    var cause: Trouble.Cause {
        switch self {
        case .missing: .headMissing
        case .restored: .restored
        case .rowsChanged: .rowsChanged
        }
    }

    /// A sentence that says what is wrong, what it means, and what to do.
    var sentence: String {
        switch self {
        case .missing(let reason):
            "headMissing: \(reason), so it cannot be told whether the database is the newest; nothing is approved until, "
                + "with the agent stopped, oob-agent --accept-head takes it as it is"
        case .restored(let reason, _):
            "restored: \(reason); no PIN is taken, and other approvals only after the issuer has said which signCount it "
                + "accepted, until, with the agent stopped, oob-agent --accept-head takes the database as it is"
        case .rowsChanged(let reason):
            "rowsChanged: \(reason): somebody has written to the database; nothing is approved until a person has looked "
                + "(oobctl audit verify) and restored a backup, or, with the agent stopped, oob-agent --accept-head takes "
                + "the rows as they are"
        }
    }
}
