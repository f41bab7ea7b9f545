/// A page of enrollments, and its place among all.
///
/// The place of an enrollment does not change. So a reader that continues after a page skips no enrollment and meets
/// none twice. That is so even if enrollments are made, changed, ended or removed meanwhile, also the last one of the
/// page. An enrollment that is made meanwhile may be left out: with several hosts, it may get a place that the reader
/// has passed.
package struct EnrollmentPage: Sendable {
    package let enrollments: [Enrollment]
    package let place: Int64

    package init(enrollments: [Enrollment], place: Int64) {
        self.enrollments = enrollments
        self.place = place
    }
}
