/// The reason why the store cannot be used: the fault, its place and the remedy; never a row's content.
package struct StoreError: Error, Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The disk has too little room for the write.
        case full
        /// The database can be read, but not written.
        case readOnly
        /// Another process has locked the database.
        case busy
        /// The database has content that no agent has written.
        case corrupt
        /// Another program has changed the journal, or removed its marks or its key.
        case forged
        /// The disk fails.
        case io
        /// A newer version has changed the schema, so that this version cannot use the database.
        case newerForm
        /// The tables have a schema that was never released.
        case unknownForm
        /// The state was moved to another database.
        case moved
        /// The database is a copy that was not restored.
        case backup
        /// The files belong to another user, or this user has no access.
        case notOurs
        /// The database server does not answer.
        case unreachable
        /// The clocks of the database server and of this host are too far apart.
        case clock
        /// The agents' secret was changed while this host was silent.
        case shutOut
        case other
    }

    package let kind: Kind
    /// The location of the store.
    package let path: String
    /// Further details, such as the system's error message.
    package let detail: String?
    /// The remedy, if it is not the usual one for the kind.
    package let remedy: String?
    /// Whether the failed write may have been made all the same; otherwise it left no change.
    ///
    /// In SQLite it may reappear after a power failure. In PostgreSQL the answer to its commit was lost.
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

    /// Whether only a person or a restart can end the fault.
    ///
    /// No more data is written then, so no more decisions are made.
    package var isForGood: Bool { Self.forGood.contains(kind) }

    private static let forGood: Set<Kind> = [.corrupt, .forged, .newerForm, .unknownForm, .moved, .backup, .shutOut]

    /// Whether one write's data may be at fault, and not the store; another write may then succeed.
    package var mayBeOfOneWrite: Bool { kind == .corrupt || kind == .other }

    /// A sentence: the fault and the remedy.
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
        case .shutOut: "start the agent again; if the secret is being changed, with both secrets"
        case .other: nil
        }
    }
}

extension StoreError: CustomStringConvertible {
    /// The sentence for an agent that runs.
    package var description: String { isForGood ? sentence : sentence + "; the agent goes on by itself after that" }
}

/// The error for a part of a database transaction that needs a row locked by another host.
package struct RowHeldError: Error {
    package init() {}
}
