package import Keys
import Synchronization

/// The agent's secret, and the previous one while the secret changes; both unseal, and one seals.
package final class SealingSecrets: Sendable {
    private let present: AgentSecret
    private let previous: AgentSecret?
    private let isUnderPrevious = Atomic(false)

    /// - Parameter previous: the secret under which values may still be sealed, while the agent's secret changes.
    package init(_ present: AgentSecret, previous: AgentSecret? = nil) {
        self.present = present
        self.previous = previous
    }

    /// Seals under the previous secret, because not all hosts of a database have the present one yet.
    ///
    /// Call before any value is sealed.
    package func sealUnderPrevious() { isUnderPrevious.store(true, ordering: .releasing) }

    /// The secret that seals.
    var sealing: AgentSecret {
        guard isUnderPrevious.load(ordering: .acquiring) else { return present }
        return previous ?? present
    }

    /// The secrets that unseal, the likelier first.
    var opening: [AgentSecret] { [present] + [previous].compactMap(\.self) }

    /// The fingerprints by which other hosts recognize the two secrets.
    package func fingerprints() throws(OpenSSLError) -> (present: [UInt8], previous: [UInt8]?) {
        (try present.fingerprint(), try previous?.fingerprint())
    }

    func isPresent(_ secret: AgentSecret) -> Bool { secret == present }

    /// Opens a value that is sealed under either secret.
    func open(_ sealed: [UInt8], label: String) throws(SealError) -> Secret {
        do throws(SealError) {
            return try present.open(sealed, label: label)
        } catch .notSealedByThisSecret {
            guard let previous else { throw .notSealedByThisSecret }
            return try previous.open(sealed, label: label)
        }
    }

    /// Runs `open` with the secret under which the key is sealed.
    func openKey<Result>(
        _ open: (AgentSecret) throws(SealedKeyError) -> Result
    ) throws(SealedKeyError) -> Result {
        do throws(SealedKeyError) {
            return try open(present)
        } catch .seal(.notSealedByThisSecret) {
            guard let previous else { throw .seal(.notSealedByThisSecret) }
            return try open(previous)
        }
    }
}
