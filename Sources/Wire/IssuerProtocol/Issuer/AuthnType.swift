/// The member `authnType`: the requirement for an approval of an enrollment.
///
/// This is the only definition, except for the names that `oobctl enroll` offers. D1's type of this name has another
/// meaning.
package enum AuthnType: String, Sendable, CaseIterable {
    /// The PIN, for every approval.
    case pin
    /// An explicit approve.
    case presence
    /// Like `presence`, but it claims user verification: for tests only.
    case test
}
