/// The result of an unenrollment.
package struct Unenrollment: Sendable, Equatable {
    /// Whether it was still enrolled.
    package let wasEnrolled: Bool
    /// Whether its personal data is gone; nil if that was not asked for, false if it takes longer.
    package let isErased: Bool?
}
