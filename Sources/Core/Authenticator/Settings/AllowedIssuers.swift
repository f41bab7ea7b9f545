package import IssuerProtocol
import Records
import Synchronization

/// The issuers that a new enrollment may name, which can be changed while the agent runs.
///
/// Issuers are compared as parsed origins: scheme, host and port. Existing enrollments do not depend on this list.
package final class AllowedIssuers: Sendable {
    /// The most issuers that a refusal names.
    private static let maxNamed = 5

    private let issuers: Mutex<[IssuerURL]?>

    /// - Parameter issuers: `nil` for any issuer.
    package init(_ issuers: [IssuerURL]? = nil) { self.issuers = Mutex(issuers) }

    /// Replaces the allowed issuers.
    ///
    /// `nil` allows any issuer.
    package func use(_ issuers: [IssuerURL]?) { self.issuers.withLock { $0 = issuers } }

    /// - Throws: `CommandError` that names the allowed issuers.
    func expectAllowed(_ issuer: IssuerURL) throws(CommandError) {
        guard let allowed = issuers.withLock(\.self), !allowed.contains(issuer) else { return }
        let named = allowed.prefix(Self.maxNamed).map(\.text).joined(separator: ", ")
        let others = allowed.count - Self.maxNamed
        throw CommandError(
            .invalidArgument,
            "issuer: this agent does not enroll at \(issuer.text); its setting issuers allows \(named)"
                + (others > 0 ? " and \(others) more" : ""))
    }
}
