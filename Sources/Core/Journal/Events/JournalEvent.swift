package import Records
import TextAndTime

/// An event for readers: the part of the journal about requests and enrollments.
package struct JournalEvent: Sendable, Equatable {
    package enum Name: String, Sendable, CaseIterable {
        case requestPresented, requestDecided, requestDelivered, requestDeliveryFailed, requestExpired
        case requestCancelled, requestRefused, requestConflict, requestDuplicate, requestSuperseded
        case enrolled, unenrolled, suspended, blocked
        /// An advance of the clock; every reader receives it, because it is about no enrollment.
        case clockAdvanced
        /// Events before this one are no longer kept.
        case gap
    }

    package let name: Name
    /// The host of the entry's chain, or empty for the only chain.
    package internal(set) var host = ""
    /// The position of a reader that has received the events up to this one.
    package internal(set) var cursor = EventCursor.beginning
    /// The number of the entry; the numbers within a chain ascend, but are not consecutive.
    package let sequence: Int64
    /// The time in RFC 3339, UTC, whole seconds.
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

    /// Returns `nil` for a row that is not an entry, or that a reader could not act on.
    ///
    /// The row is not verified here. A verification of the journal does that.
    init?(_ row: JournalRow) {
        guard let kind = row.kind, let name = kind.event, let at = row.at else { return nil }
        let (enrollment, request) = (row.enrollment, row.request)
        // The answer to a message that is not a request of its own, such as a duplicate.
        if request == nil, kind.emptiesOutbox { return nil }
        // A key that no enrollment uses.
        if enrollment == nil, name == .blocked { return nil }
        self.init(name: name, sequence: row.sequence, at: at, enrollment: enrollment, request: request)
    }
}
