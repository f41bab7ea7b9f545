package import Records
import TextAndTime

/// What a reader of events is told: the part of the journal that is about requests and enrollments.
package struct JournalEvent: Sendable, Equatable {
    package enum Name: String, Sendable, CaseIterable {
        case requestPresented, requestDecided, requestDelivered, requestDeliveryFailed, requestExpired
        case requestCancelled, requestRefused, requestConflict, requestDuplicate, requestSuperseded
        case enrolled, unenrolled, suspended, blocked
        /// It is about no enrollment: every reader is told.
        case clockAdvanced
        /// Events before this one are no longer kept.
        case gap
    }

    package let name: Name
    /// In whose chain it is; empty if there is one.
    package internal(set) var host = ""
    /// Where a reader is who was told up to this one.
    package internal(set) var cursor = EventCursor.beginning
    /// The number of its entry; those of a chain grow, with holes.
    package let sequence: Int64
    /// RFC 3339, UTC, whole seconds.
    package let at: String
    package let enrollment: EnrollmentID?
    package let request: RequestID?

    static func gap(upTo sequence: Int64, at now: Int64) -> JournalEvent {
        JournalEvent(name: .gap, sequence: sequence, at: UTCTime.text(now), enrollment: nil, request: nil)
    }

    private init(name: Name, sequence: Int64, at: String, enrollment: EnrollmentID?, request: RequestID?) {
        self.name = name
        self.sequence = sequence
        self.at = at
        self.enrollment = enrollment
        self.request = request
    }

    /// Nil for a row that is no event, or no entry: it tells nothing that a reader could act on.
    ///
    /// Whether the row is as it was written is for who verifies the journal.
    init?(_ row: JournalRow) {
        guard let kind = row.kind, let name = kind.event, let at = row.at else { return nil }
        let (enrollment, request) = (row.enrollment, row.request)
        // The answer to a message that is no request of its own, such as a duplicate.
        if request == nil, kind.emptiesOutbox { return nil }
        // A key that no enrollment uses.
        if enrollment == nil, name == .blocked { return nil }
        self.init(name: name, sequence: row.sequence, at: at, enrollment: enrollment, request: request)
    }
}
