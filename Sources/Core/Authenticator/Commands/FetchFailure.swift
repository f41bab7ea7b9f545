package import Records

/// An issuer that could not be asked for enrollments, all for one reason.
package struct FetchFailure: Sendable {
    /// The first of them.
    package let enrollment: Enrollment
    package let reason: String
    /// The number of them.
    package internal(set) var count: Int
}
