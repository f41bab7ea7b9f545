import IssuerProtocol
import Records

/// Bounds on data from issuers.
///
/// An operator sets ``enrollments``, ``undecided`` and ``storedBytes``. The others are constants, which tests make
/// small.
package struct AgentBounds: Sendable {
    /// The most open enrollments, of one agent or of all hosts that share its store.
    ///
    /// Enrolls that are under way when the bound is reached continue to their end.
    package var enrollments = 100_000
    /// The same bound for hosts that share a store.
    package static let enrollmentsOfHosts = 10_000_000
    /// The most undecided requests of one enrollment.
    ///
    /// One more is refused.
    package var undecided = 1_000
    /// The most requests of one enrollment within 24 hours that are stored but never presented.
    ///
    /// Such a request is refused, with an answer, or too late. One more is dropped.
    package var refusedADay = 10_000
    /// The most messages of one enrollment within 24 hours.
    ///
    /// One more request is dropped. Messages of any outcome count, and those of up to five minutes more count too.
    package var messagesADay = 20_000
    /// The most stored bytes of one issuer's messages.
    ///
    /// Past it, the issuer's new requests are refused. The stored part of refusals may use an eighth more. Past that,
    /// messages are dropped. Cancellations may use a quarter more.
    package var storedBytes = 16 << 30
    /// The same bound for hosts that share a store.
    package static let storedBytesOfHosts = 1 << 40
    /// The same bound for one enrollment.
    package var storedBytesOfEnrollment = 256 << 20
    /// The most cancellations of one enrollment that are stored at a time.
    ///
    /// One more is dropped.
    package var cancellations = 10_000
    /// The most bytes of one message.
    ///
    /// A longer message is dropped.
    package var messageBytes = AuthnRequestReader.maxBytes
    /// The most deferred messages in memory, of one enrollment and of all.
    ///
    /// One more is dropped.
    package var heldOfEnrollment = 100
    package var held = 10_000
    /// The most bytes of deferred messages, of one enrollment and of all.
    package var heldBytesOfEnrollment = 256 << 10
    package var heldBytes = 16 << 20
    /// The seconds between two log lines about one bad peer.
    package var logPause: Int64 = 60

    package static let standard = AgentBounds()

    package init() {}

    package init(_ change: (inout AgentBounds) -> Void) { change(&self) }
}

extension AgentBounds {
    /// Returns whether an enrollment and its issuer have room for one more message.
    ///
    /// - Parameter eighths: the eighths of the bounds that may be used beyond them.
    func hasRoom(beside tally: StoredTally, eighthsMore eighths: Int = 0) -> Bool {
        tally.bytes < storedBytesOfEnrollment + storedBytesOfEnrollment / 8 * eighths
            && tally.bytesOfIssuer < storedBytes + storedBytes / 8 * eighths
    }
}
