import Synchronization

/// Whether the database is known to be the newest that this host wrote, as the noted head says at start.
package final class HeadStanding: Sendable {
    /// Why it is not known; only a person ends it.
    enum Doubt: Sendable, Equatable {
        /// No head is noted, or not a readable one, though this host has entries.
        case missing(String)
        /// The database is older than the noted head, or has another history.
        case restored(String, noted: Int64)
    }

    private let state = Mutex<Doubt?>(nil)
    /// Why the head could not be noted at the last try.
    private let failure = Mutex<String?>(nil)

    /// Nil if nothing is in doubt.
    var doubt: Doubt? { state.withLock(\.self) }

    func set(_ doubt: Doubt?) { state.withLock { $0 = doubt } }

    var notKept: String? { failure.withLock(\.self) }

    func setNotKept(_ reason: String?) { failure.withLock { $0 = reason } }

    /// Throws if nothing may be approved before a person has looked.
    func expectApprovals(of request: RequestRecord? = nil) throws(CommandError) {
        guard case .missing = doubt else { return }
        throw refusal("nothing was decided", request)
    }

    /// Throws if no PIN is tried: counts and PINs are those of whenever the database was written.
    func expectPINs() throws(CommandError) {
        guard doubt != nil else { return }
        throw refusal("no PIN was tried, and nothing was decided", nil)
    }

    private func refusal(_ consequence: String, _ request: RequestRecord?) -> CommandError {
        CommandError(.keyUnavailable, "\(consequence): \(doubt?.sentence ?? "")", request: request)
    }

    /// Whether each issuer must say which signCount it accepted before an approval.
    var isRestored: Bool { if case .restored = doubt { true } else { false } }
}

extension HeadStanding.Doubt {
    var cause: Trouble.Cause {
        switch self {
        case .missing: .headMissing
        case .restored: .restored
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
        }
    }
}
