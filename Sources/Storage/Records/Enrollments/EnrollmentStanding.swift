/// A stage that selects the enrollments for some work.
package enum EnrollmentStage: Sendable {
    case active
    /// Registration without an answer from the issuer.
    case enrolling
    /// Active, with a push subscription.
    case subscribed
}

/// The part of an enrollment that decides whether the agent fetches for it.
package struct EnrollmentStanding: Sendable, Equatable {
    /// A number that grows with each new enrollment.
    package let place: Int64
    package let id: EnrollmentID
    /// `nil` unless its issuer has accepted it and it has not ended.
    package let isSuspended: Bool?

    package init(place: Int64, id: EnrollmentID, isSuspended: Bool?) {
        (self.place, self.id, self.isSuspended) = (place, id, isSuspended)
    }
}

/// The number of enrollments in each state.
package struct EnrollmentTally: Sendable, Equatable {
    package var enrolling = 0
    package var active = 0
    package var suspended = 0
    /// Enrollments whose issuer had accepted a signature that this agent did not make.
    package var signedElsewhere = 0

    package init() {}
}
