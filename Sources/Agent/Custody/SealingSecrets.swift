package import Keys
import Synchronization

/// The agent's secret, and the one before it while the agent's secret changes: both open what is sealed, and one seals.
package final class SealingSecrets: Sendable {
    private let present: AgentSecret
    private let previous: AgentSecret?
    private let isUnderPrevious = Atomic(false)

    /// - Parameter previous: the secret that values may still be sealed under, while the agent's secret changes.
    package init(_ present: AgentSecret, previous: AgentSecret? = nil) {
        self.present = present
        self.previous = previous
    }

    /// Lets the previous secret seal, as not all hosts of a database have the present one yet.
    ///
    /// It is called before anything is sealed.
    package func sealUnderPrevious() { isUnderPrevious.store(true, ordering: .releasing) }

    /// The one that seals.
    var sealing: AgentSecret {
        guard isUnderPrevious.load(ordering: .acquiring) else { return present }
        return previous ?? present
    }

    /// Those that open, the likelier first.
    var opening: [AgentSecret] { [present] + [previous].compactMap(\.self) }

    /// By which other hosts know the two.
    package func fingerprints() throws(OpenSSLError) -> (present: [UInt8], previous: [UInt8]?) {
        (try present.fingerprint(), try previous?.fingerprint())
    }

    func isPresent(_ secret: AgentSecret) -> Bool { secret == present }

    /// Opens a value under whichever secret it is sealed.
    func open(_ sealed: [UInt8], label: String) throws(SealError) -> Secret {
        do throws(SealError) {
            return try present.open(sealed, label: label)
        } catch .notSealedByThisSecret {
            guard let previous else { throw .notSealedByThisSecret }
            return try previous.open(sealed, label: label)
        }
    }

    /// Does something with a key under whichever secret it is sealed.
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
