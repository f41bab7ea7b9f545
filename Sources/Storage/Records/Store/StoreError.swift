/// Why the store cannot be used as it should: what, where, and what to do about it; never a row's content.
package struct StoreError: Error, Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// There is no room for what is to be written.
        case full
        /// It can be read and not written.
        case readOnly
        /// Another process has locked it.
        case busy
        /// It holds what no agent has written.
        case corrupt
        /// Something else has changed its journal, or taken the journal's marks or key away.
        case forged
        /// The disk fails.
        case io
        /// A newer version has changed its form, so that this one cannot work on it.
        case newerForm
        /// It has tables of no form that was ever released.
        case unknownForm
        /// What it held lies elsewhere now.
        case moved
        /// It is a copy that was not restored.
        case backup
        /// Its files are another user's, or closed to this one.
        case notOurs
        /// Its server does not answer.
        case unreachable
        /// Its server's clock and this host's are too far apart.
        case clock
        /// The agents' secret was changed while this host was silent.
        case shutOut
        case other
    }

    package let kind: Kind
    /// Where the store is.
    package let path: String
    /// What else is known, such as the system's own words.
    package let detail: String?
    /// What to do, where it is not the usual thing for the kind.
    package let remedy: String?
    /// Whether the write that failed may be there after a power cut all the same; else nothing of it is left.
    package let isInDoubt: Bool

    package init(
        _ kind: Kind, at path: String, detail: String? = nil, remedy: String? = nil, isInDoubt: Bool = false
    ) {
        self.kind = kind
        self.path = path
        self.detail = detail
        self.remedy = remedy
        self.isInDoubt = isInDoubt
    }

    /// Whether only a person or a new start can end it: nothing more is written then, so nothing more is decided.
    package var isForGood: Bool { Self.forGood.contains(kind) }

    private static let forGood: Set<Kind> = [.corrupt, .forged, .newerForm, .unknownForm, .moved, .backup, .shutOut]

    /// Whether it may be about what was to be written, and not the store: something else may be written then.
    package var mayBeOfOneWrite: Bool { kind == .corrupt || kind == .other }

    /// One sentence: what is wrong, and what to do.
    package var sentence: String {
        let words = detail.map { " (\($0))" } ?? ""
        let advice = (remedy ?? usualRemedy).map { ": \($0)" } ?? ""
        return "\(problem)\(words)\(advice)"
    }

    private var problem: String {
        switch kind {
        case .full: "the database \(path) cannot be written, its disk is full"
        case .readOnly: "the database \(path) cannot be written, it or its file system is read-only"
        case .busy: "the database \(path) is locked by another process"
        case .corrupt: "the database \(path) is damaged"
        case .forged: "the journal in the database \(path) is not the one that the agent wrote"
        case .io: "the disk of the database \(path) fails, or its file system has turned read-only"
        case .newerForm: "the database \(path) was made by a newer version of the agent"
        case .unknownForm: "the database \(path) was made by an unreleased version of the agent, or by another program"
        case .moved: "the state in the database \(path) was moved"
        case .backup: "the database \(path) is a backup that was not restored"
        case .notOurs: "the database \(path) is not this user's to change"
        case .unreachable: "the database \(path) cannot be reached"
        case .clock: "this host's clock is not the one of the database \(path)"
        case .shutOut: "the database \(path) takes nothing more from this process"
        case .other: "the database \(path) cannot be used"
        }
    }

    private var usualRemedy: String? {
        switch kind {
        case .full: "make room"
        case .readOnly: "change that"
        case .busy: "end that one (`fuser \(path)` names it)"
        case .corrupt: "nothing is decided on it any more; stop the agent and restore a backup"
        case .forged:
            "nothing is decided on it any more; `oobctl audit verify` says more; stop the agent, keep its state for "
                + "whoever looks into this, and restore a backup"
        case .io: "see the kernel's log, and this user's quota"
        case .newerForm: "use that version, or a backup from before the upgrade"
        case .unknownForm: "it stays as it is; give this version an empty one, and enroll anew"
        case .moved: "start the agent on that one; two that run on one state could use a signCount twice"
        case .backup: "move it away, and restore it from there with `oob-agent --restore FILE`"
        case .notOurs: "its files must belong to the user whom the agent runs as"
        case .unreachable: "see to its server and the way to it"
        case .clock: "set the clocks of both (NTP)"
        case .shutOut: "start the agent again, with both secrets until the change is over"
        case .other: nil
        }
    }
}

extension StoreError: CustomStringConvertible {
    /// The sentence, as it is for an agent that runs.
    package var description: String { isForGood ? sentence : sentence + "; the agent goes on by itself after that" }
}

/// Another host's database transaction holds a row that a part of this one needs.
package struct RowHeldError: Error {
    package init() {}
}
