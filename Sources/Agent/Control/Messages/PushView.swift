/// The counts of messages to an enrollment with push, since the agent started.
///
/// A member without a value is left out. Times are RFC 3339, UTC.
package struct PushView: Codable, Sendable, Equatable {
    /// Whether pushes arrive, so that polls are less frequent.
    package var works: Bool
    package var lastPush: String?
    package var lastPoll: String?
    /// Messages that arrived first by push, and messages that arrived first by poll.
    package var firstByPush: Int
    package var firstByPoll: Int
    /// Messages that arrived again, by push or poll.
    package var duplicates: Int
    /// Pushes that the agent refused.
    package var refused: Int
    /// Seconds from `iat` to the arrival of the last message that came first by push.
    package var latency: Int?

    package init(
        works: Bool, lastPush: String? = nil, lastPoll: String? = nil, firstByPush: Int = 0, firstByPoll: Int = 0,
        duplicates: Int = 0, refused: Int = 0, latency: Int? = nil
    ) {
        self.works = works
        self.lastPush = lastPush
        self.lastPoll = lastPoll
        self.firstByPush = firstByPush
        self.firstByPoll = firstByPoll
        self.duplicates = duplicates
        self.refused = refused
        self.latency = latency
    }
}

/// The body of `POST /v1/push/rotate`.
package struct PushRotateCommand: Encodable, Sendable, Equatable {
    /// The enrollment to rotate the push subscription of.
    ///
    /// If absent, all are rotated.
    package var enrollment: String?

    package init(enrollment: String? = nil) { self.enrollment = enrollment }
}

/// The answer of `POST /v1/push/rotate`.
package struct PushRotatedView: Codable, Sendable, Equatable {
    /// Enrollments whose issuer has not answered yet.
    ///
    /// The agent keeps trying.
    package var open: [String]

    package init(open: [String]) { self.open = open }
}
