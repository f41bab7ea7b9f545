package import Records

/// A failure to fetch from an issuer for some enrollments, all for the same reason.
package struct FetchFailure: Sendable {
    /// The first of these enrollments.
    package let enrollment: Enrollment
    package let reason: String
    /// The number of these enrollments.
    package internal(set) var count: Int
}
