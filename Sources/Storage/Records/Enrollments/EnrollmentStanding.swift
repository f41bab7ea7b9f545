/// Enrollments that some work is for.
package enum EnrollmentStage: Sendable {
    case active
    /// The issuer has not answered yet.
    case enrolling
    /// It is active and has a push subscription.
    case subscribed
}

/// As much of an enrollment as tells whether it is to be fetched for.
package struct EnrollmentStanding: Sendable, Equatable {
    /// Grows with each enrollment that is made.
    package let place: Int64
    package let id: EnrollmentID
    /// Nil unless its issuer has accepted it and it is not over.
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
    /// Enrollments whose issuer had accepted a signature that was not made here.
    package var signedElsewhere = 0

    package init() {}
}
