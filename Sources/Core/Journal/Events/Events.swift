package import Records

/// What happened, for whoever waits.
package enum AgentEvent: Sendable {
    /// An entry of the journal: what it tells is durable.
    ///
    /// Only ``JournaledStore`` publishes it, all entries of a commit together.
    case journaled(JournalFact.Kind, of: EnrollmentID? = nil, request: RequestID? = nil)
    /// The same entry once more: a request has come, or another message for one, under these names.
    case requestReceived(RequestNames, of: EnrollmentID)
    /// An entry, of another host, which has work for another: only readers of events are told.
    case journaledElsewhere(JournalFact.Kind, of: EnrollmentID)

    // What no entry of the journal tells.

    /// A registration waits to be sent.
    case registrationStarted(EnrollmentID)
    /// Personal data of an enrollment that is over is to be erased.
    case erasureWanted(EnrollmentID)
    /// A message of this issuer is held that was not.
    case messageHeld(IssuerTarget)
    /// Somebody waits for a request that may be at its issuer.
    case requestsWanted
    /// A push said that there is something to fetch.
    case fetchWanted(EnrollmentID)
    /// A person wants another push subscription.
    case pushRotated(EnrollmentID)
    /// The issuer has the push subscription that it is to have.
    case pushSettled(EnrollmentID)
    /// Other enrollments than before are this host's to poll and deliver for.
    case sharesChanged
    /// Entries of another host were told to nobody: whoever waits for one looks at the store.
    case gap
    /// The ``PeriodicLook`` has found this in the store, whether or not anybody was told of it.
    case found(WaitingWork)
    /// So many of the agent's own keys have been looked at since the start that the other work may begin.
    case ownKeysSeen
    /// All keys have been looked at since the start.
    case firstLookOver
    /// A key that could be used cannot any more.
    case keyFailed(EnrollmentID)
    /// A trouble of the store has come, changed or gone.
    case storeHealthChanged
    /// All rows have been held against the journal.
    case rowsRead
}

extension AgentEvent {
    init(_ entry: JournalEntry) {
        self = .journaled(entry.kind, of: entry.enrollment, request: entry.request)
    }

    /// The events that are published of an entry.
    package static func all(of entry: JournalEntry) -> [AgentEvent] {
        guard let names = RequestNames(entry), let id = entry.enrollment else { return [AgentEvent(entry)] }
        return [AgentEvent(entry), .requestReceived(names, of: id)]
    }

    /// The kind of the entry that was journaled; nil for anything else.
    package var kind: JournalFact.Kind? {
        switch self {
        case .journaled(let kind, _, _): kind
        default: nil
        }
    }

    /// Likewise, also of an entry that is told to readers of events alone.
    var kindForReaders: JournalFact.Kind? {
        if case .journaledElsewhere(let kind, _) = self { kind } else { kind }
    }

    /// The request that an entry is about; nil if it is about none.
    package var request: RequestID? {
        switch self {
        case .journaled(_, _, let request): request
        case .requestReceived(let names, _): names.id
        default: nil
        }
    }

    /// The enrollment that an entry is about; nil if it is about none.
    package var enrollment: EnrollmentID? {
        switch self {
        case .journaled(_, let id, _): id
        case .requestReceived(_, let id), .journaledElsewhere(_, let id): id
        default: nil
        }
    }

    package var isGap: Bool { if case .gap = self { true } else { false } }

    /// Whether it is an entry of this kind about this enrollment.
    package func tells(_ kind: JournalFact.Kind, of id: EnrollmentID) -> Bool {
        if case .journaled(kind, of: id, _) = self { true } else { false }
    }

    /// The enrollment that an entry is about, if it is of one of the wanted kinds.
    package func enrollment(if isWanted: (JournalFact.Kind) -> Bool) -> EnrollmentID? {
        if case .journaled(let kind, let id, _) = self, isWanted(kind) { id } else { nil }
    }
}

// What follows from an entry, by its kind.
extension JournalFact.Kind {
    /// What readers of events are told; nil for what they could not act on.
    var event: JournalEvent.Name? {
        switch self {
        case .presented: .requestPresented
        case .superseded: .requestSuperseded
        case .duplicate: .requestDuplicate
        case .conflict: .requestConflict
        case .refused: .requestRefused
        case .expired: .requestExpired
        case .cancelled: .requestCancelled
        case .decided: .requestDecided
        case .answered: .requestDelivered
        case .deliveryFailed: .requestDeliveryFailed
        case .enrolled: .enrolled
        case .unenrolled: .unenrolled
        case .suspended: .suspended
        case .blocked: .blocked
        case .clockAdvanced: .clockAdvanced
        case .notVerified, .verified, .pinTriesPutBack, .pinChanged, .auditKeyMade, .started, .stopped, .secretChanged,
            .headAccepted, .clockAccepted, .commanded, .enrollmentGivenUp, .resumed, .signCountRaised, .erased,
            .pushMade,
            .pushRegistered, .pushRemoved, .received, .sent, .played, .hostsSeen, .moved:
            nil
        }
    }

    /// Whether something waits in the outbox of its enrollment that was not there before.
    package var fillsOutbox: Bool {
        switch self {
        case .decided, .duplicate, .refused: true
        default: false
        }
    }

    /// Whether something has left the outbox of its enrollment.
    package var emptiesOutbox: Bool {
        switch self {
        case .answered, .deliveryFailed: true
        default: false
        }
    }

    /// Whether a request may expire earlier than any did before.
    package var movesDeadline: Bool {
        switch self {
        case .presented, .superseded, .clockAdvanced: true
        default: false
        }
    }

    /// Whether a request that was not pending before may be now.
    package var mayBringPending: Bool {
        switch self {
        case .presented, .superseded: true
        default: false
        }
    }

    /// Whether an issuer may be asked for its enrollment from now on, or may not any more.
    package var changesStanding: Bool {
        switch self {
        case .enrolled, .unenrolled, .suspended, .resumed: true
        default: false
        }
    }
}

/// What a request that has come can be called.
package struct RequestNames: Sendable, Equatable {
    package let id: RequestID
    package let jti: String
    package let acsTransId: String?

    /// Nil for an entry that is about anything else.
    fileprivate init?(_ entry: JournalEntry) {
        guard entry.text("payload") != nil, let id = entry.request, let jti = entry.text("jti") else { return nil }
        self.init(id: id, jti: jti, acsTransId: entry.text("acsTransId"))
    }

    init(id: RequestID, jti: String, acsTransId: String?) {
        self.id = id
        self.jti = jti
        self.acsTransId = acsTransId
    }
}
