package import IssuerProtocol
import Records
import Synchronization

/// The issuers that a new enrollment may name; they can be changed while the agent runs.
///
/// An issuer is compared as a parsed origin: scheme, host and port. Enrollments that are there already do not depend on
/// it.
package final class AllowedIssuers: Sendable {
    /// The most issuers that a refusal names.
    private static let maxNamed = 5

    private let issuers: Mutex<[IssuerURL]?>

    /// - Parameter issuers: `nil` for any issuer.
    package init(_ issuers: [IssuerURL]? = nil) { self.issuers = Mutex(issuers) }

    /// Allows these from now on; `nil` for any issuer.
    package func use(_ issuers: [IssuerURL]?) { self.issuers.withLock { $0 = issuers } }

    /// - Throws: `CommandError` that names what is allowed.
    func check(_ issuer: IssuerURL) throws(CommandError) {
        guard let allowed = issuers.withLock(\.self), !allowed.contains(issuer) else { return }
        let named = allowed.prefix(Self.maxNamed).map(\.text).joined(separator: ", ")
        let others = allowed.count - Self.maxNamed
        throw CommandError(
            .invalidArgument,
            "issuer: this agent does not enroll at \(issuer.text); its setting issuers allows \(named)"
                + (others > 0 ? " and \(others) more" : ""))
    }
}
