package import Records

/// A failure, for one reason, to ask an issuer for some enrollments.
package struct FetchFailure: Sendable {
    /// The first of these enrollments.
    package let enrollment: Enrollment
    package let reason: String
    /// The number of these enrollments.
    package internal(set) var count: Int
}
