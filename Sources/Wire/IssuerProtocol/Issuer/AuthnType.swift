/// The member `authnType`: what an approval of an enrollment takes.
///
/// The only definition besides the names that `oobctl enroll` offers. D1's type of this name means something else.
package enum AuthnType: String, Sendable, CaseIterable {
    /// The PIN, for every approval.
    case pin
    /// An explicit approve.
    case presence
    /// As presence, but it claims user verification: for tests only.
    case test
}
