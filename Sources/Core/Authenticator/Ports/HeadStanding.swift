import Journal
import Records
import Synchronization

/// The doubts whether the database has the newest state that the hosts wrote.
///
/// The head note raises them at start, and each ``RowWatch`` comparison raises them about rows.
package final class HeadStanding: Sendable {
    /// A doubt.
    ///
    /// Only a person can end it.
    enum Doubt: Sendable, Equatable {
        /// The head note is missing or unreadable, though this host has entries.
        case missing(String)
        /// The database is older than the head note, or has another history.
        case restored(String, noted: Int64)
        /// Rows differ from the newest state that was written.
        case rowsChanged(String)
    }

    private struct State {
        var head: Doubt?
        var rows: Doubt?
        var areRowsDue = false
    }

    /// The seconds for which a decision waits for the first comparison of the rows.
    ///
    /// They are less than a decision may take.
    private static let rowPatience: Double = 20

    private let state = Mutex(State())
    private let hub = EventHub()
    /// The reason why the last write of the head note failed.
    private let failure = Mutex<String?>(nil)

    /// The doubt that the head note raised.
    ///
    /// `nil` if it raised none.
    var doubt: Doubt? { state.withLock(\.head) }

    /// The doubt that a comparison of the rows raised.
    ///
    /// `nil` if none did.
    var rowDoubt: Doubt? { state.withLock(\.rows) }

    /// All current doubts.
    var doubts: [Doubt] { state.withLock { [$0.head, $0.rows].compactMap(\.self) } }

    func set(_ doubt: Doubt?) { state.withLock { $0.head = doubt } }

    /// Whether this agent has started and has yet to finish the first comparison of the rows.
    var areRowsDue: Bool { state.withLock(\.areRowsDue) }

    func expectRows() { state.withLock { $0.areRowsDue = true } }

    /// Records the result of a comparison of the rows.
    ///
    /// An earlier doubt stays until a person ends it.
    func setRows(_ doubt: Doubt?) {
        state.withLock { state in
            state.rows = state.rows ?? doubt
            state.areRowsDue = false
        }
        hub.publish(.rowsRead)
    }

    /// Clears the doubt about rows after a person has accepted them.
    func acceptRows() { state.withLock { $0.rows = nil } }

    /// Waits until all rows have been compared with the journal.
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

    /// Throws if approvals must wait until a person has checked the database.
    func expectApprovals(of request: RequestRecord? = nil) throws(CommandError) {
        guard let doubt = doubts.first(where: \.keepsFromApprovals) else { return }
        throw Self.refusal("nothing was decided", doubt, request)
    }

    /// Throws if PINs must not be tried: an older database has older counts of tries and older PINs.
    func expectPINs() throws(CommandError) {
        guard let doubt = doubts.first else { return }
        throw Self.refusal("no PIN was tried, and nothing was decided", doubt, nil)
    }

    private static func refusal(_ consequence: String, _ doubt: Doubt, _ request: RequestRecord?) -> CommandError {
        CommandError(.keyUnavailable, "\(consequence): \(doubt.sentence)", request: request)
    }

    /// Whether each issuer must confirm the signCount that it accepted before an approval.
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

    /// A sentence with the fault, its consequence and the remedy.
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
