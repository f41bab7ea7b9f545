package import Records

/// An event for listeners.
package enum AgentEvent: Sendable {
    /// An entry of the journal, which is durable.
    ///
    /// Only ``JournaledStore`` publishes it, all entries of a commit together.
    case journaled(JournalFact.Kind, of: EnrollmentID? = nil, request: RequestID? = nil)
    /// The same entry again, if it reports a new request or another message for one, with these names.
    case requestReceived(RequestNames, of: EnrollmentID)
    /// An entry of another host that is work for another host; only readers of events receive it.
    case journaledElsewhere(JournalFact.Kind, of: EnrollmentID)

    // Events without an entry of the journal.

    /// A registration waits to be sent.
    case registrationStarted(EnrollmentID)
    /// Personal data of an ended enrollment is to be erased.
    case erasureWanted(EnrollmentID)
    /// A message of this issuer was deferred.
    case messageHeld(IssuerTarget)
    /// A client waits for a request that may be at its issuer.
    case requestsWanted
    /// A push message has announced that there is something to fetch.
    case fetchWanted(EnrollmentID)
    /// A person has asked for another push subscription.
    case pushRotated(EnrollmentID)
    /// The issuer has the intended push subscription.
    case pushSettled(EnrollmentID)
    /// The enrollments that this host polls and delivers for have changed.
    case sharesChanged
    /// Entries of another host were not published, so a listener must read the store.
    case gap
    /// Work that the ``PeriodicLook`` has found in the store, whether or not an event was published for it.
    case found(WaitingWork)
    /// Enough of the agent's own keys have been checked since the start, so other work may begin.
    case ownKeysSeen
    /// The first check of the keys since the start has ended, or the start does not wait for it any longer.
    case firstLookOver
    /// A usable key cannot be used any more.
    case keyFailed(EnrollmentID)
    /// A problem of the store has come, changed or gone.
    case storeHealthChanged
    /// All rows have been compared with the journal.
    case rowsRead
}

extension AgentEvent {
    init(_ entry: JournalEntry) {
        self = .journaled(entry.kind, of: entry.enrollment, request: entry.request)
    }

    /// Returns the events that are published for an entry.
    package static func all(of entry: JournalEntry) -> [AgentEvent] {
        guard let names = RequestNames(entry), let id = entry.enrollment else { return [AgentEvent(entry)] }
        return [AgentEvent(entry), .requestReceived(names, of: id)]
    }

    /// The kind of the journaled entry, or `nil` for any other event.
    package var kind: JournalFact.Kind? {
        switch self {
        case .journaled(let kind, _, _): kind
        default: nil
        }
    }

    /// The kind of the entry, also of an entry that only readers of events receive.
    var kindForReaders: JournalFact.Kind? {
        if case .journaledElsewhere(let kind, _) = self { kind } else { kind }
    }

    /// The request of the entry, or `nil` if it is about none.
    package var request: RequestID? {
        switch self {
        case .journaled(_, _, let request): request
        case .requestReceived(let names, _): names.id
        default: nil
        }
    }

    /// The enrollment of the entry, or `nil` if it is about none.
    package var enrollment: EnrollmentID? {
        switch self {
        case .journaled(_, let id, _): id
        case .requestReceived(_, let id), .journaledElsewhere(_, let id): id
        default: nil
        }
    }

    package var isGap: Bool { if case .gap = self { true } else { false } }

    /// Returns whether the event is an entry of this kind about this enrollment.
    package func tells(_ kind: JournalFact.Kind, of id: EnrollmentID) -> Bool {
        if case .journaled(kind, of: id, _) = self { true } else { false }
    }

    /// Returns the enrollment of the entry, if its kind is wanted.
    package func enrollment(if isWanted: (JournalFact.Kind) -> Bool) -> EnrollmentID? {
        if case .journaled(let kind, let id, _) = self, isWanted(kind) { id } else { nil }
    }
}

// Consequences of an entry, by its kind.
extension JournalFact.Kind {
    /// The event for readers, or `nil` if they could not act on it.
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

    /// Whether there is a new item in the outbox of the enrollment.
    package var fillsOutbox: Bool {
        switch self {
        case .decided, .duplicate, .refused: true
        default: false
        }
    }

    /// Whether an item has left the outbox of the enrollment.
    package var emptiesOutbox: Bool {
        switch self {
        case .answered, .deliveryFailed: true
        default: false
        }
    }

    /// Whether a request may have a deadline before all present ones.
    package var movesDeadline: Bool {
        switch self {
        case .presented, .superseded, .clockAdvanced: true
        default: false
        }
    }

    /// Whether a request may have become pending.
    package var mayBringPending: Bool {
        switch self {
        case .presented, .superseded: true
        default: false
        }
    }

    /// Whether polling for the enrollment may begin, or must end.
    package var changesStanding: Bool {
        switch self {
        case .enrolled, .unenrolled, .suspended, .resumed: true
        default: false
        }
    }
}

/// The names that identify a received request.
package struct RequestNames: Sendable, Equatable {
    package let id: RequestID
    package let jti: String
    package let acsTransId: String?

    /// Returns `nil` for an entry about anything else.
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
