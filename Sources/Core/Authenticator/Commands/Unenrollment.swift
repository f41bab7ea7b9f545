/// The result of an unenrollment.
package struct Unenrollment: Sendable, Equatable {
    /// Whether it was still enrolled.
    package let wasEnrolled: Bool
    /// Whether its personal data is erased; `false` if that takes longer.
    ///
    /// `nil` if the caller did not ask for an erasure.
    package let isErased: Bool?
}
