/// Some enrollments, and where they end among all.
///
/// An enrollment keeps its place. So whoever goes on behind it leaves none out and meets none twice, though others are made,
/// changed, ended and removed meanwhile, the last of the page too. One that is made meanwhile may be left out: on several
/// hosts it may get a place that was passed already.
package struct EnrollmentPage: Sendable {
    package let enrollments: [Enrollment]
    package let place: Int64

    package init(enrollments: [Enrollment], place: Int64) {
        self.enrollments = enrollments
        self.place = place
    }
}
