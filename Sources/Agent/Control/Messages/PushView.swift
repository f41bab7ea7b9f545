/// How messages came to an enrollment that is pushed to, since the agent started.
///
/// A member without a value is left out; times are RFC 3339, UTC.
package struct PushView: Codable, Sendable, Equatable {
    /// Whether pushes come, so that polls are less frequent.
    package var works: Bool
    package var lastPush: String?
    package var lastPoll: String?
    /// Messages that came first by a push, and by a poll.
    package var firstByPush: Int
    package var firstByPoll: Int
    /// Messages that came again, by either.
    package var duplicates: Int
    /// Pushes that were not taken.
    package var refused: Int
    /// Seconds from `iat` to the last message that came first by push.
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
    /// For this enrollment only.
    package var enrollment: String?

    package init(enrollment: String? = nil) { self.enrollment = enrollment }
}

/// What a rotation answers.
package struct PushRotatedView: Codable, Sendable, Equatable {
    /// Enrollments whose issuer has not answered yet; the agent goes on trying.
    package var open: [String]

    package init(open: [String]) { self.open = open }
}
